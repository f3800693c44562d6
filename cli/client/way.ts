/**
 * How a request leaves. To this machine it never goes through the proxy that HTTP_PROXY names: another machine cannot reach it there,
 * and would read the key.
 */
export function wayTo(url: string | URL): { readonly proxy?: false } {
  const host = (typeof url === "string" ? URL.parse(url) : url)?.hostname ?? "";
  const isHere = /^(?:127\.[\d.]+|\[::1\]|(?:.+\.)?localhost)$/.test(host);
  return isHere ? { proxy: false } : {};
}
