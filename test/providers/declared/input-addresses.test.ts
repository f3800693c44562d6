import { expect, test } from "bun:test";
import type { Form } from "../../../src/providers/declared/form.ts";
import { needsAddresses } from "../../../src/providers/declared/input-addresses.ts";
import { builtInForm, FORM_FILES } from "./harness.ts";

const form = (parts: Partial<Form>): Form => ({
  ...{ provider: "plain", form: 1, base: "https://api.plain.example", auth: { none: true } },
  ...parts,
});
const sends = (json: unknown) => ({ submit: { post: "/", json, outputs: { url: "${body.url}" } } });
const upload = (source: string) => ({
  roles: ["image"],
  post: "/files",
  json: { source },
  gives: { id: "${body.id}" },
});

test.each([
  ["a call of url", form(sends({ image: '${url(input("image").value())}' }))],
  ["an address in a macro", form(sends({ images: '${inputs("image").map(i, i.url)}' }))],
  ["an address of each file", form(sends({ "each image as image": "${file.url}" }))],
  ["an address of an input", form(sends({ image: '${input("image").value().url}' }))],
  [
    "an upload by address",
    form({ ...sends({ id: '${input("image").?id}' }), prepare: [upload("${url(file)}")] }),
  ],
  [
    "addresses in each flow that takes files",
    form({
      flows: {
        text: { when: '${mode == "text-to-image"}', ...sends({ prompt: "${prompt}" }) },
        images: sends({ image: '${url(input("image").value())}' }),
      },
    }),
  ],
])("a form whose files go by %s needs addresses", (_, given) => {
  expect(needsAddresses(given)).toBe(true);
});

test.each([
  ["no files", form(sends({ url: "${params.url}" }))],
  ["base64", form(sends({ image: '${input("image").?base64}' }))],
  ["an address or base64", form(sends({ image: '${input("image").?url.or(input("image").?uri)}' }))],
  [
    "an address where there is one",
    form(sends({ "each image as image": "${has(file.url) ? file.url : file.uri}" })),
  ],
  [
    "an address that an upload gave",
    form({ ...sends({ image: '${input("image").?id}' }), prepare: [upload("${file.base64}")] }),
  ],
  [
    "an address in one of its flows",
    form({
      flows: {
        images: { when: '${kind == "image"}', ...sends({ image: '${url(input("image").value())}' }) },
        videos: sends({ image: '${input("image").?base64}' }),
      },
    }),
  ],
])("a form whose files go by %s needs none", (_, given) => {
  expect(needsAddresses(given)).toBe(false);
});

test("of the forms that come along, one needs addresses", () => {
  expect(FORM_FILES.filter((file) => needsAddresses(builtInForm(file)))).toEqual(["luma.yaml"]);
});
