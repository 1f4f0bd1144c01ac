// Payloads come as text (our own) or bytes (a client's), and are kept as they came.

/** A payload that may be kept for long: a view on a whole socket read, of up to 64 kB, would keep all of it alive. */
export function compact(payload: Buffer | string): Buffer | string {
  if (typeof payload === 'string' || payload.buffer.byteLength === payload.byteLength) return payload;
  const copy = Buffer.allocUnsafeSlow(payload.byteLength);
  payload.copy(copy);
  return copy;
}

/** A payload as bytes. */
export const bytesOf = (payload: Buffer | string): Buffer =>
  typeof payload === 'string' ? Buffer.from(payload) : payload;
