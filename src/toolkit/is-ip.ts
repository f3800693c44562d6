/**
 * The version of an IP address in text, or 0: `isIP` of node:net. That is loaded at the first call, because it takes milliseconds and
 * most commands have no address to look at.
 */
export function isIP(text: string): 0 | 4 | 6 {
  // Node's types know only `number`.
  return process.getBuiltinModule("node:net").isIP(text) as 0 | 4 | 6;
}
