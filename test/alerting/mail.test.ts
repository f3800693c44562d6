import { expect, test } from "bun:test";
import { mail } from "../../src/alerting/mail.ts";
import { startMailServer } from "../e2e/support/mail-server.ts";

const NOTICE = { state: "test", kind: "test", subject: "", summary: "Nothing is wrong.", since: 0 } as const;

test("a plus in an address is part of it", async () => {
  const server = startMailServer();
  try {
    const address = `${server.url}?from=svc+alerts@example.com&to=ops+svc@example.com,b@example.com`;
    const sender = { version: "1", host: "here" };
    await mail({ address, password: undefined }, [NOTICE], sender, new AbortController().signal);
    const sent = await server.first();
    expect(sent).toContain("From: svc+alerts@example.com");
    expect(sent).toContain("To: ops+svc@example.com, b@example.com");
  } finally {
    server.stop();
  }
});
