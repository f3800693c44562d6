import { networkInterfaces } from "node:os";
import type { Config } from "../../config/config.ts";
import { isJsonObject } from "../../domain/json.ts";
import { certificateEnd, type Looked, lookAt } from "../../egress/look.ts";
import { isIP } from "../../toolkit/is-ip.ts";
import { isSystemError } from "../../toolkit/system-error.ts";
import { findPortOwner } from "../port-owner.ts";
import { skewCheck } from "./environment.ts";
import { error, type Finding, ok, warn } from "./finding.ts";

const LOOK_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const SOON_MS = 14 * DAY_MS;
const EVERY_ADDRESS = ["0.0.0.0", "::"];

interface NetworkDeps {
  readonly config: Config;
  /** Whether a server runs on the data folder, and its process where that is known. */
  readonly server: { readonly isHeld: boolean; readonly pid?: number | undefined };
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Examines where the server listens, and the address at which callers reach it. */
export async function networkChecks(deps: NetworkDeps): Promise<Finding[]> {
  const { host, port, longPort } = deps.config;
  const ports = [
    ...(port === undefined || port === 0 ? [] : [portCheck("--port", port, deps)]),
    ...(longPort === undefined || longPort === 0 ? [] : [portCheck("--long-port", longPort, deps)]),
  ];
  return [hostCheck(host), ...ports, ...(await publicChecks(deps)), ...longCheck(deps.config)];
}

function hostCheck(host: string): Finding {
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map(({ address }) => address));
  const isHere =
    EVERY_ADDRESS.includes(host) || isIP(host) === 0 || /^127\./.test(host) || own.includes(host);
  if (isHere) return ok("host", `${host} can be listened on.`);
  const fix = "--host 127.0.0.1 (this machine alone) or --host 0.0.0.0 (all its addresses)";
  return error("host", `This machine has no address ${host}: the server cannot start.`, fix);
}

function portCheck(flag: string, port: number, { config, server }: NetworkDeps): Finding {
  const listening = tryToListen(config.host, port);
  if (listening === "forbidden" && !server.isHeld)
    return error(
      "port",
      `Port ${port} needs a privilege that this user lacks.`,
      `${flag} 8787, and a reverse proxy in front`,
    );
  // If no server runs, a port that can be listened on is free, and no owner has to be searched, which takes long with many
  // connections.
  const owner = server.isHeld || listening !== "free" ? findPortOwner(port) : undefined;
  const isTaken = owner !== undefined || listening !== "free";
  if (!isTaken)
    return ok(
      "port",
      server.isHeld ? `Nobody listens on port ${port}; the server has another.` : `Port ${port} is free.`,
    );
  const isOurs =
    server.isHeld && (owner === undefined || server.pid === undefined || owner.pid === server.pid);
  if (isOurs) return ok("port", `The server listens on port ${port}.`);
  const who = owner === undefined ? "another program" : `pid ${owner.pid} (${owner.name})`;
  const free =
    [port + 1, port + 2, port + 3].find((each) => each < 65_536 && canListen(config.host, each)) ?? 0;
  const text = `Port ${port} is in use by ${who}.`;
  return server.isHeld ? warn("port", text, `${flag} ${free}`) : error("port", text, `${flag} ${free}`);
}

const canListen = (host: string, port: number) => tryToListen(host, port) === "free";

/** Whether a port can be listened on. `forbidden`: low ports take a privilege. */
function tryToListen(host: string, port: number): "free" | "forbidden" | "taken" {
  try {
    Bun.listen({ hostname: host, port, socket: { data() {} } }).stop(true);
    return "free";
  } catch (error) {
    return isSystemError(error) && error.code === "EACCES" ? "forbidden" : "taken";
  }
}

async function publicChecks({ config, server, now }: NetworkDeps): Promise<Finding[]> {
  const { publicUrl, host } = config;
  if (publicUrl === undefined) {
    if (!EVERY_ADDRESS.includes(host))
      return [
        ok("public_url", "public_url is not set: addresses of results begin as each caller's request did."),
      ];
    const text = `The server listens on every address (${host}) without public_url: addresses of results repeat whatever host a caller used, and nothing encrypts.`;
    return [
      warn(
        "public_url",
        text,
        "public_url: https://media.example.com   # in svc.yaml, and a TLS proxy in front",
      ),
    ];
  }
  const tls = await tlsChecks(publicUrl, now);
  const looked = await lookAt(`${publicUrl}/healthz`, LOOK_MS);
  return [...tls, reachCheck(publicUrl, looked, server.isHeld), ...skewOf(publicUrl, looked, now)];
}

function skewOf(url: string, looked: Looked, now: number): Finding[] {
  if (looked.kind !== "answered" || looked.dateMs === undefined) return [];
  return skewCheck(now, { dateMs: looked.dateMs, host: new URL(url).host });
}

async function tlsChecks(publicUrl: string, now: number): Promise<Finding[]> {
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
  if (protocol === "http:") {
    if (isLocal) return [ok("tls", "public_url is on this machine, where nothing needs to be encrypted.")];
    const text = `${publicUrl} is not encrypted: whoever is on the way can read keys and results.`;
    return [
      warn("tls", text, `public_url: ${publicUrl.replace("http:", "https:")}   # with a TLS proxy in front`),
    ];
  }
  const end = await certificateEnd(publicUrl, LOOK_MS);
  if (end === undefined) return [];
  const days = Math.floor((end - now) / DAY_MS);
  const renew = `Renew the certificate of ${hostname}.`;
  if (end < now) return [error("tls", `The certificate of ${hostname} has ended.`, renew)];
  if (end < now + SOON_MS)
    return [warn("tls", `The certificate of ${hostname} ends in ${days} days.`, renew)];
  return [ok("tls", `The certificate of ${hostname} is valid for ${days} days.`)];
}

function reachCheck(publicUrl: string, looked: Looked, isServed: boolean): Finding {
  const id = "public_url";
  if (looked.kind === "unreachable") {
    const text = `${publicUrl} cannot be reached from here: ${looked.reason}.`;
    if (!isServed) return ok(id, `${publicUrl} does not answer, as no server runs.`);
    return warn(
      id,
      text,
      "Look at the name, the proxy in front and its certificate, or change public_url in svc.yaml.",
    );
  }
  const { status, text, location } = looked;
  if (location !== undefined && status >= 300 && status < 400) {
    const there = URL.parse(location, publicUrl)?.origin ?? location;
    const what = `${publicUrl} leads on to ${there}: addresses of results and callbacks go to another origin than callers end at.`;
    return warn(id, what, `public_url: ${there}   # in svc.yaml`);
  }
  if (status === 200 && isHealth(text)) return ok(id, `${publicUrl} leads to a server of svc.`);
  if (!isServed && status >= 500) return ok(id, `${publicUrl} answers ${status}, as no server runs.`);
  const what = `${publicUrl} answers ${status}, but not as svc does: something else is there.`;
  return error(id, what, "Have the proxy lead / to the server, or change public_url in svc.yaml.");
}

function isHealth(text: string): boolean {
  try {
    const answer: unknown = JSON.parse(text);
    return isJsonObject(answer) && answer.status === "ok";
  } catch {
    return false;
  }
}

/** Behind a proxy, calls that wait for pictures are cut at the usual port. */
function longCheck({ publicUrl, longPort, edgeTimeoutMs, sync }: Config): Finding[] {
  if (publicUrl === undefined || longPort !== undefined || sync.waitMs <= edgeTimeoutMs)
    return [ok("long_requests", "Calls that wait for their images may take as long as they wait.")];
  const [limit, wait] = [edgeTimeoutMs / 1000, sync.waitMs / 1000];
  const text = `Calls that wait for their images may wait ${wait} s, but are cut at ${limit} s on the only port.`;
  return [warn("long_requests", text, "long_port: 8788   # in svc.yaml, for /compat/v1 at the proxy")];
}
