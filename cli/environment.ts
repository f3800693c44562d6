import type { Context } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { Failure, usage } from "./failure.ts";

const DEFAULT_SERVER = "http://127.0.0.1:8787";

export interface ClientFlags {
  readonly server?: string;
  readonly key?: string;
}

/** The server that a client command talks to, and the key. */
export interface ClientSettings {
  /** Without a trailing slash. Has a path when the service is served below one. */
  readonly server: string;
  readonly key: string;
}

/** Prefers flags, then SVC_SERVER and SVC_API_KEY, then the local default. @throws Failure (exit 4) without a key */
export function readClientSettings(flags: ClientFlags, { env }: Pick<Context, "env">): ClientSettings {
  const server = readServer(flags.server ?? (env.SVC_SERVER || DEFAULT_SERVER));
  const key = (flags.key ?? env.SVC_API_KEY ?? "").trim();
  if (key === "") {
    throw new Failure(EXIT.auth, "no_api_key", "There is no API key to use.", {
      hint: "Set SVC_API_KEY or give --key. On the server's machine `svc keys create --name NAME` makes one.",
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    const message = "The API key holds characters that no key has; check that it was copied whole.";
    throw new Failure(EXIT.auth, "invalid_api_key", message);
  }
  return { server, key };
}

/** Reads `host:port` as http. Drops a trailing slash or `/v1`. */
function readServer(text: string): string {
  const url = parseWebUrl(text);
  if (url === null || url.username !== "" || url.search !== "" || url.hash !== "")
    throw usage(`"${text.slice(0, 80)}" is not the address of a server; write it like ${DEFAULT_SERVER}.`);
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** Reads an address as a person types it: `localhost:3000/hook` means http. */
export function parseWebUrl(text: string): URL | null {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  return url !== null && /^https?:$/.test(url.protocol) ? url : null;
}

/** `svc help environment`. */
export const ENVIRONMENT_HELP = `Variables of the client commands (task, models, callbacks):
  SVC_SERVER      address of the server (default ${DEFAULT_SERVER})
  SVC_API_KEY     API key
Variables of every command:
  SVC_OUTPUT      json, plain or auto (a table on a terminal, plain elsewhere)
  NO_COLOR        set to anything: no colours
  SVC_NATIVE_DIR  folder for the executable's native libraries
`;
