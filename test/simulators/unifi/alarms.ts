// What calls the webhooks of a gateway: a console's Alarm Manager, which signs nothing, and a sender that signs.
import { createHmac } from 'node:crypto';

/** A call; whoever wants another header or body than is usual says so. */
export interface SentAlarm {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** How it was answered. */
export interface AlarmAnswer {
  readonly status: number;
  readonly retryAfter: number | undefined;
  readonly json: { readonly status?: string; readonly error?: { code: string; message: string; hint?: string } };
}

/** Sends one, as it is. */
export async function sendAlarm(
  address: string,
  { method = 'POST', headers, body }: SentAlarm = {},
): Promise<AlarmAnswer> {
  const answer = await fetch(address, { method, headers, body } as RequestInit);
  const wait = answer.headers.get('retry-after');
  return {
    status: answer.status,
    retryAfter: wait === null ? undefined : Number(wait),
    json: (await answer.json()) as AlarmAnswer['json'],
  };
}

/** As the Alarm Manager posts it. @param at epoch ms */
export const ring = (address: string, name: string, key: string, at: number): Promise<AlarmAnswer> =>
  sendAlarm(address, {
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      alarm: { name, sources: [], conditions: [{ condition: { type: 'is', source: key } }], triggers: [{ key }] },
      timestamp: at,
    }),
  });

/** The header of a signed body. */
export const signatureOf = (body: string | Uint8Array, secret: string): string =>
  createHmac('sha256', secret).update(body).digest('hex');

/** As a sender that signs posts it. */
export function sendSigned(address: string, secret: string, event: object): Promise<AlarmAnswer> {
  const body = JSON.stringify(event);
  return sendAlarm(address, { body, headers: { 'X-UniFi-Signature': signatureOf(body, secret) } });
}
