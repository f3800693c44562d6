import type { Send } from "./read.ts";

/** What to do about a send that was not acknowledged, for whoever runs the receiver; undefined where nothing is known. */
export function adviceFor({ outcome, status, error }: Pick<Send, "outcome" | "status" | "error">) {
  if (outcome === "refused") return status === null ? undefined : adviceOnStatus(status);
  if (outcome === "unreachable") return adviceOnError(error ?? "");
  if (outcome === "forbidden")
    return "Only public addresses are called, unless the operator opens others with egress.allow. For a receiver on your own machine: svc callbacks listen --forward.";
  if (outcome === "interrupted")
    return "The service stopped before there was an answer: it may have arrived. Go by task_id, and twice does no harm.";
  return undefined;
}

function adviceOnStatus(status: number): string {
  if (status >= 300 && status <= 399)
    return "Redirects are not followed. Create tasks with the address that this one leads to.";
  if (status === 401 || status === 403)
    return "The receiver turned it away. If it checks signatures, compare its secret with the key's.";
  if (status === 404 || status === 405 || status === 410)
    return "Nothing takes a POST at this path. Compare it with the receiver's.";
  if (status === 429)
    return "The receiver is asked too often. Its Retry-After says when the next attempt comes.";
  if (status >= 500)
    return "The receiver failed while it handled this; its own log says why. Answer first, and do the work afterwards.";
  return "Any status from 200 to 299 acknowledges a callback; this one does not.";
}

const ERRORS: readonly (readonly [RegExp, string])[] = [
  [/no answer in time/, "Answer within 10 seconds: take it, answer, and do the work afterwards."],
  [/ECONNREFUSED/, "Nothing listens at this port. Start the receiver, or correct the port."],
  [/cannot be found/, "This host has no address. Correct its name, or its entry in the DNS."],
  [/ECONNRESET|EPIPE|socket/i, "The receiver closed the connection before it answered."],
  [/E(?:HOST|NET)UNREACH|ETIMEDOUT/, "Nothing answers at this address. A firewall may be between."],
  [
    /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|SSL/,
    "The receiver's certificate is not valid for this host, or its issuer is unknown.",
  ],
  [/cannot be signed/, "The operator has to restore the key that the signing secrets are sealed with."],
];

function adviceOnError(error: string): string | undefined {
  return ERRORS.find(([pattern]) => pattern.test(error))?.[1];
}
