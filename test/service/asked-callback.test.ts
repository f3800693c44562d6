import { expect, test } from "bun:test";
import { createEgress } from "../../src/egress/egress.ts";
import { callbackOf } from "../../src/service/asked-callback.ts";

const resolve = () => Promise.reject(new Error("A refusal must not look anything up."));
const egress = createEgress({ allow: [], resolve, localAddresses: () => [] });

test.each([
  [
    "http://localhost:3000/",
    "callback_url names the host localhost, which is not public; the server's setting egress.allow lets addresses through.",
  ],
  [
    "http://192.168.1.5/",
    "callback_url names the address 192.168.1.5, which is not public; the server's setting egress.allow lets addresses through.",
  ],
  ["ftp://example.com/", "callback_url must be an http or https URL."],
])("the callback address %s is refused with what to do about it", (callback_url, message) => {
  expect(() => callbackOf({ egress }, { callback_url }, undefined)).toThrow(message);
});
