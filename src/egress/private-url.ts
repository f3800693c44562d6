import { createAddressGuard } from "./address.ts";

/**
 * Why a URL leads to a private network, as a clause; undefined for one that does not, or leads where the operator lets requests go.
 * Looks at addresses and at names for this machine. Other names are not looked up.
 *
 * @param allow CIDR ranges that requests may go to whatever they contain
 */
export function createPrivateUrlCheck(allow: readonly string[]): (url: string) => string | undefined {
  const guard = createAddressGuard(allow, () => []);
  return (url) => {
    const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
    const isThisMachine = host === "localhost" || host.endsWith(".localhost");
    const isAddress = host.includes(":") || /^[\d.]+$/.test(host);
    if (!isThisMachine && !isAddress) return undefined;
    // A name for this machine leads to either.
    const verdicts = (isThisMachine ? ["127.0.0.1", "::1"] : [host]).map(guard.judge);
    const denied = verdicts.find((verdict) => verdict.kind === "denied");
    if (denied === undefined || verdicts.some(({ kind }) => kind === "allowed")) return undefined;
    return `${host} is ${denied.reason}`;
  };
}
