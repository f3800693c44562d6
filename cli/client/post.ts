/** How much of an unneeded answer is read, and for how long. */
const MAX_DRAINED_BYTES = 64 * 1024;
const DRAIN_TIMEOUT_MS = 1_000;

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** POSTs to an address of the user's own, without any credential. @throws when nobody answers */
export async function post(url: string, { headers, body, signal }: Sent) {
  const answer = await fetch(url, {
    method: "POST",
    // Do not decompress the answer.
    headers: { ...headers, "Accept-Encoding": "identity" },
    body,
    signal,
    redirect: "manual",
    decompress: false,
    // On a reused connection the runtime may send a request twice. A proxy cannot reach this machine.
    keepalive: false,
    proxy: false,
  });
  await drain(answer.body);
  return { status: answer.status, statusText: answer.statusText };
}

/** Reads a little of an answer, so that its sender can finish, and drops the rest. */
async function drain(answer: ReadableStream<Uint8Array> | null): Promise<void> {
  if (answer === null) return;
  const reader = answer.getReader();
  const timer = setTimeout(() => void reader.cancel().catch(() => undefined), DRAIN_TIMEOUT_MS);
  try {
    for (let sizeBytes = 0; sizeBytes < MAX_DRAINED_BYTES; ) {
      const { done, value } = await reader.read();
      if (done) return;
      sizeBytes += value.length;
    }
  } catch {
    // The status is enough. A body that breaks off changes nothing.
    return;
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => undefined);
  }
}
