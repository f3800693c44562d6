import type { Finding } from "../../src/app/doctor/doctor.ts";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { VERSION } from "../../src/version.ts";
import { parseBody } from "./answer.ts";
import type { ClientOptions } from "./exchange.ts";
import { serverVersion } from "./server-version.ts";
import { wayTo } from "./way.ts";

const LOOK_MS = 10_000;

/**
 * Examines a running server: whether it answers and takes tasks, its version, and what it reports about itself. With a management
 * token it reports everything.
 */
export async function lookAtServer(
  server: string,
  token: string | undefined,
  options: ClientOptions,
): Promise<readonly Finding[]> {
  let response: Response;
  try {
    response = await fetch(`${server}/readyz?verbose`, {
      redirect: "manual",
      ...wayTo(server),
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(LOOK_MS)]),
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return [
      found(
        "server_reach",
        "error",
        `${server} does not answer: ${reason}`,
        "svc serve, or the right --server",
      ),
    ];
  }
  if (response.status === 401)
    return [
      found(
        "server_token",
        "error",
        `${server} does not know the management token.`,
        "svc tokens create --name NAME",
      ),
    ];
  const body = parseBody(await response.text().catch(() => ""));
  const { status, reason } = isJsonObject(body) ? body : {};
  if (!isJsonObject(body) || (status !== "ready" && status !== "not_ready"))
    return [
      found(
        "server_reach",
        "error",
        `What answers at ${server} is no server of svc.`,
        "--server with the server's address",
      ),
    ];
  return [
    status === "ready"
      ? found("server_reach", "ok", `${server} takes tasks.`)
      : found(
          "server_reach",
          "error",
          `${server} takes no tasks: ${String(reason)}.`,
          "Look at the server's log.",
        ),
    ...versionCheck(server, await serverVersion(server, options)),
    ...saidChecks(body, server),
  ];
}

function versionCheck(server: string, version = VERSION): Finding[] {
  if (version === VERSION) return [found("server_version", "ok", `${server} is svc ${VERSION}.`)];
  const message = `${server} is svc ${version}, and this is svc ${VERSION}.`;
  const fix = `Restart the server with svc ${VERSION}, or use svc ${version} here.`;
  return [found("server_version", "warn", message, fix)];
}

function found(id: string, status: Finding["status"], message: string, fix?: string): Finding {
  return { id, status, message, fix };
}

/** Without a token a server says no more than how each check went. */
function saidChecks({ checks }: JsonObject, server: string): Finding[] {
  return (Array.isArray(checks) ? checks : []).flatMap((check) => {
    if (!isJsonObject(check) || typeof check.id !== "string") return [];
    const status = check.status === "ok" || check.status === "warn" ? check.status : "error";
    const isTold = typeof check.message === "string";
    const message = isTold ? String(check.message) : `${server} says so; a management token has it say more.`;
    const fix = typeof check.fix === "string" ? check.fix : undefined;
    return [
      found(
        `server.${check.id}`,
        status,
        message,
        status === "ok" ? undefined : (fix ?? "svc doctor --server URL --token TOKEN"),
      ),
    ];
  });
}
