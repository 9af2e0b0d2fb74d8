/** An answer of the gateway's own. Nothing of it is kept by caches: the table behind it may change. */
export function jsonResponse(body: unknown, fields: Readonly<Record<string, string>> = {}, status = 200): Response {
  return new Response(`${JSON.stringify(body, null, 2)}\n`, {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...fields },
  });
}
