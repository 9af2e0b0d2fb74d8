/** Answers at once with as many characters as the query says: the upper limit of a page of the gateway's own. */
const bodies = new Map<string, string>();

export default {
  fetch(request: Request): Response {
    const bytes = request.url.slice(request.url.indexOf("?") + 1);
    let body = bodies.get(bytes);
    if (body === undefined) {
      body = "x".repeat(Number(bytes));
      bodies.set(bytes, body);
    }
    return new Response(body, { status: 201 });
  },
};
