/** A server-sent event as a client sees it. */
export interface SentEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface EventStream {
  /** The next event. @throws Error when the stream ends before it */
  next(): Promise<SentEvent>;
  /** What to send as `Last-Event-ID` to go on from here; also told without an event. */
  lastId(): string | undefined;
  /** Cuts the connection. */
  cut(): void;
}

/** Opens a stream of events, which `end` cuts. @throws Error for any answer but 200 */
export async function openEvents(
  at: { readonly url: string; readonly key: string },
  path: string,
  lastEventId?: string,
  end?: AbortSignal,
): Promise<EventStream> {
  const leaving = new AbortController();
  const response = await fetch(at.url + path, {
    headers: {
      Authorization: `Bearer ${at.key}`,
      ...(lastEventId === undefined ? {} : { "Last-Event-ID": lastEventId }),
    },
    keepalive: false,
    signal: end === undefined ? leaving.signal : AbortSignal.any([leaving.signal, end]),
  });
  if (response.status !== 200 || response.body === null) throw new Error(`No events: ${response.status}`);
  let lastId = lastEventId;
  const events = eventsOf(response.body, (id) => {
    lastId = id;
  });
  return {
    lastId: () => lastId,
    cut: () => leaving.abort(),
    async next() {
      const { value, done } = await events.next();
      if (done) throw new Error("The stream has ended.");
      return value;
    },
  };
}

async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  onId: (id: string) => void,
): AsyncGenerator<SentEvent, void, undefined> {
  const decoder = new TextDecoder();
  let left = "";
  for await (const chunk of body) {
    const blocks = (left + decoder.decode(chunk, { stream: true })).split("\n\n");
    left = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = new Map(block.split("\n").map((line): [string, string] => fieldOf(line)));
      const [id, data] = [fields.get("id"), fields.get("data")];
      if (data !== undefined) yield { name: fields.get("event") ?? "message", id, data };
      // After the event, as it was taken only then.
      if (id !== undefined) onId(id);
    }
  }
}

function fieldOf(line: string): [string, string] {
  const at = line.indexOf(": ");
  return [line.slice(0, at), line.slice(at + 2)];
}
