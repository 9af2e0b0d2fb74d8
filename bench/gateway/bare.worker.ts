/** A minimal pass-through Worker: the upper limit of any gateway on this runtime. */
export default {
  fetch(request: Request, env: { readonly ORIGIN: string }): Promise<Response> {
    const url = request.url;
    return fetch(env.ORIGIN + url.slice(url.indexOf("/", "https://".length)), request);
  },
};
