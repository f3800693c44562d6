/** An event as it was sent. */
export interface SentEvent {
  readonly name: string;
  readonly data: string;
}

/**
 * Reads server-sent events from text that comes in pieces (https://html.spec.whatwg.org/multipage/server-sent-events.html, checked
 * 2026-11-24). This service ends lines with LF and gives each event a name.
 */
export function createEventReader() {
  let rest = "";
  let lastId: string | undefined;
  return {
    /** Also of an event without data: a stream begins with one, which says where it begins. */
    lastId: () => lastId,
    /** @returns the events that are whole now */
    read(text: string): SentEvent[] {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      return blocks.flatMap((block) => {
        const fields = new Map<string, string>();
        for (const line of block.split("\n")) {
          const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
          if (name === undefined || value === undefined) continue;
          const before = name === "data" ? fields.get(name) : undefined;
          fields.set(name, before === undefined ? value : `${before}\n${value}`);
        }
        lastId = fields.get("id") ?? lastId;
        const [name, data] = [fields.get("event"), fields.get("data")];
        return name === undefined || data === undefined ? [] : [{ name, data }];
      });
    },
    /** Forgets what came of an event when its stream broke. */
    reset(): void {
      rest = "";
    },
  };
}
