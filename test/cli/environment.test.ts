import { expect, test } from "bun:test";
import { readServer } from "../../cli/environment.ts";

test.each([
  ["127.0.0.1:8787", "http://127.0.0.1:8787"],
  ["http://127.0.0.1:8787/v1/", "http://127.0.0.1:8787"],
  ["http://127.0.0.1:8787/compat/v1", "http://127.0.0.1:8787"],
  ["https://example.com/media/compat/v1/", "https://example.com/media"],
  ["https://example.com/compat", "https://example.com/compat"],
])("%s is the server %s", (given, server) => {
  expect(readServer(given)).toBe(server);
});
