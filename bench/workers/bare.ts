/** The least that a Worker can do: the limit that any gateway on this runtime has. */
export default {
  fetch(request: Request, env: { readonly ORIGIN: string }): Promise<Response> {
    const url = request.url;
    return fetch(env.ORIGIN + url.slice(url.indexOf("/", "https://".length)), request);
  },
};
