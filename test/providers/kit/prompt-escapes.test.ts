import { expect, test } from "bun:test";
import { withoutOrders } from "../../../src/providers/kit/prompt-escapes.ts";
import { submission } from "../sdapi/harness.ts";

const parameters = { negative_prompt: "<LoRA:x>", seed: 7, styles: ["<lora:y>", { text: "<<lora:z>" }] };

test("orders are broken up in every text of a request, and nothing else is changed", () => {
  const given = submission({ prompt: "a <lora:a> <b> (c:1.2) [d.e]", parameters });
  expect(withoutOrders(given, ["<lora:", "[d.e"])).toEqual({
    ...given,
    request: {
      ...given.request,
      prompt: "a < lora:a> <b> (c:1.2) [ d.e]",
      parameters: {
        negative_prompt: "< LoRA:x>",
        seed: 7,
        styles: ["< lora:y>", { text: "<< lora:z>" }],
      },
    },
  });
  expect(withoutOrders(given, [])).toBe(given);
});

test("what looks like a pattern is a text", () => {
  const given = submission({ prompt: "dxe .*" });
  expect(withoutOrders(given, ["d.e", ".*"]).request.prompt).toBe("dxe . *");
});
