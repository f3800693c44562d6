import type { Notice } from "../domain/alerts.ts";
import { orAborted } from "../toolkit/deadline.ts";
import { linesOf, type Sender, subjectOf } from "./message.ts";

const LIMIT_MS = 20_000;
const PORTS = { "smtp:": 587, "smtps:": 465 } as const;

/** Mails the notices: `smtp://user@host:587?from=…&to=…`, `smtps://` for a connection that is encrypted from its beginning. @throws Error */
export async function mail(
  { address, password }: { readonly address: string; readonly password: string | undefined },
  notices: readonly Notice[],
  sender: Sender,
  signal: AbortSignal,
): Promise<void> {
  const url = new URL(address);
  const isEncrypted = url.protocol === "smtps:";
  // A plus in an address is part of it, and no space.
  const named = new URLSearchParams(url.search.replaceAll("+", "%2B"));
  // Loaded late: few servers mail.
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? PORTS[isEncrypted ? "smtps:" : "smtp:"] : Number(url.port),
    secure: isEncrypted,
    // A password never goes over a connection that nothing encrypts.
    requireTLS: password !== undefined,
    ...(password !== undefined && { auth: { user: decodeURIComponent(url.username), pass: password } }),
    ...{ connectionTimeout: LIMIT_MS, greetingTimeout: LIMIT_MS, socketTimeout: LIMIT_MS },
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  try {
    const sent = transport.sendMail({
      from: named.get("from") ?? "",
      to: named.get("to") ?? "",
      subject: subjectOf(notices, sender),
      text: `${linesOf(notices).join("\n")}\n`,
    });
    await orAborted(sent, signal);
  } catch (error) {
    if (signal.aborted) throw new Error("the mail server took too long", { cause: error });
    throw new Error(`the mail was not taken: ${withoutPassword(error, password)}`, { cause: error });
  } finally {
    transport.close();
  }
}

function withoutPassword(error: unknown, password: string | undefined): string {
  const text = error instanceof Error ? error.message : String(error);
  return password === undefined ? text : text.replaceAll(password, "…");
}
