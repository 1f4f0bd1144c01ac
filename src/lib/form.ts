// Forms in the bodies of requests.
import { CausewayError } from './errors.ts';
import type { Json } from './json.ts';

/** True for the content types of forms. */
export const isForm = (contentType: string): boolean =>
  /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i.test(contentType);

/** A form as an object; a name that comes more than once holds a list, a file its name. @throws INPUT_INVALID */
export async function readForm(bytes: Buffer, contentType: string): Promise<{ [name: string]: Json }> {
  const form = await new Response(new Uint8Array(bytes), { headers: { 'Content-Type': contentType } })
    .formData()
    .catch(() => {
      throw new CausewayError('INPUT_INVALID', 'the form cannot be read');
    });
  const textsOf = (name: string) => form.getAll(name).map(value => (typeof value === 'string' ? value : value.name));
  return Object.fromEntries(
    [...new Set(form.keys())].map(name => {
      const texts = textsOf(name);
      return [name, texts.length === 1 ? (texts[0] as string) : texts];
    }),
  );
}
