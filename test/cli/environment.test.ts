import { expect, test } from "bun:test";
import { ENVIRONMENT_HELP, readServer } from "../../cli/environment.ts";
import { OTHER_VARIABLES } from "../../src/config/warnings.ts";

test.each([
  ["127.0.0.1:8787", "http://127.0.0.1:8787"],
  ["http://127.0.0.1:8787/v1/", "http://127.0.0.1:8787"],
  ["http://127.0.0.1:8787/compat/v1", "http://127.0.0.1:8787"],
  ["https://example.com/media/compat/v1/", "https://example.com/media"],
  ["https://example.com/compat", "https://example.com/compat"],
])("%s is the server %s", (given, server) => {
  expect(readServer(given)).toBe(server);
});

test("the server knows each variable that the help of the commands names, and warns of none", () => {
  const named = ENVIRONMENT_HELP.match(/\bSVC_\w+/g) ?? [];
  expect(named).toContain("SVC_MANAGEMENT_TOKEN");
  expect(named.filter((name) => !OTHER_VARIABLES.some((known) => known === name))).toEqual([]);
});
