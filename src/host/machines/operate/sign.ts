import { createHash, createHmac } from "node:crypto";

export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface UnsignedRequest {
  readonly method: string;
  readonly url: URL;
  /** They are signed too. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/** RFC 3986: `encodeURIComponent` leaves five characters that AWS encodes. */
export const encodePart = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

const queryOf = ({ searchParams }: URL): string =>
  [...searchParams]
    .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
    .toSorted()
    .join("&");

/** The fields of a request with AWS Signature Version 4, `host` left out. The path of the URL is encoded as `encodePart` does. */
export function signedFields(
  { method, url, fields = {}, body = "" }: UnsignedRequest,
  { accessKeyId, secretAccessKey, sessionToken }: S3Credentials,
  region: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  const digest = sha256(body);
  const sent = {
    ...fields,
    "x-amz-content-sha256": digest,
    "x-amz-date": time,
    ...(sessionToken === undefined ? {} : { "x-amz-security-token": sessionToken }),
  };
  const signed = Object.entries({ ...sent, host: url.host }).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const names = signed.map(([name]) => name).join(";");
  const canonical = [
    method,
    url.pathname,
    queryOf(url),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    "",
    names,
    digest,
  ].join("\n");
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`;
  const key = scope.split("/").reduce<string | Buffer>((before, part) => hmac(before, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature}`;
  return { ...sent, authorization };
}
