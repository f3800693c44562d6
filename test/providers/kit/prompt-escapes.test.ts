import { expect, test } from "bun:test";
import { breakingOrders } from "../../../src/providers/kit/prompt-escapes.ts";
import { submission } from "../sdapi/harness.ts";

const parameters = { negative_prompt: "<LoRA:x>", seed: 7, styles: ["<lora:y>", { text: "<<lora:z>" }] };

test("orders are broken up in every text of a request, and nothing else is changed", () => {
  const given = submission({ prompt: "a <lora:a> <b> (c:1.2) [d.e]", parameters });
  expect(breakingOrders(["<lora:", "[d.e"])(given)).toEqual({
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
  expect(breakingOrders([])(given)).toBe(given);
});

test("what looks like a pattern is a text", () => {
  const given = submission({ prompt: "dxe .*" });
  expect(breakingOrders(["d.e", ".*"])(given).request.prompt).toBe("dxe . *");
});

test("a request without orders is left as it is, however often one is looked for", () => {
  const breakOrders = breakingOrders(["<lora:"]);
  const [plain, ordered] = [
    submission({ prompt: "a lora: <b>", parameters: { seed: 7, list: ["<", null] } }),
    submission({ prompt: "a", parameters }),
  ];
  for (let i = 0; i < 3; i++) {
    expect(breakOrders(plain)).toBe(plain);
    expect(breakOrders(ordered).request.parameters.negative_prompt).toBe("< LoRA:x>");
  }
});
