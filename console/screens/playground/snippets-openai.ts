import { json, type Parts, pythonLiteral, type Snippet } from "./snippet-parts.ts";

/** Fields that the `openai` client for Python knows; others go in a place of their own. */
const OPENAI_FIELDS = [
  ...["model", "prompt", "image", "mask", "n", "size", "quality", "background", "output_format"],
  ...["output_compression", "moderation", "style", "input_fidelity", "user"],
];
/** What synchronous calls have no use for. */
const ASYNC_FIELDS = ["callback_url", "retain_seconds", "partial_images"];

/** The request for clients of the images API, where it can be one: pictures are files, and a prompt is there. */
export function compatible(parts: Parts): Snippet[] {
  const { kind, body, inputs, files, root } = parts;
  const media = inputs.filter(({ field }) => body[field] !== undefined);
  const areFiles = media.every(
    ({ field, role }) =>
      (role === "image" || role === "mask") && [body[field]].flat().every((each) => files.has(String(each))),
  );
  const hasImage = media.some(({ role }) => role === "image");
  if (kind !== "image" || !areFiles || body.task_id !== undefined || (media.length > 0 && !hasImage))
    return [];
  const fields = Object.entries(body).filter(
    ([name]) => !ASYNC_FIELDS.includes(name) && !media.some(({ field }) => field === name),
  );
  const namesOf = (role: string) =>
    media
      .filter((each) => each.role === role)
      .flatMap(({ field }) => [body[field]].flat().map((mark) => files.get(String(mark))?.name ?? ""));
  const call: CompatCall = { root, fields, images: namesOf("image"), mask: namesOf("mask")[0] };
  return [
    { title: "openai (JavaScript)", text: openaiJavascript(call) },
    { title: "openai (Python)", text: openaiPython(parts, call) },
  ];
}

interface CompatCall {
  readonly root: string;
  readonly fields: readonly (readonly [name: string, value: unknown])[];
  readonly images: readonly string[];
  readonly mask: string | undefined;
}

function openaiJavascript({ root, fields, images, mask }: CompatCall): string {
  const isEdit = images.length > 0;
  const open = (name: string) => `createReadStream(${json(name)})`;
  const list = images.length === 1 ? open(images[0] ?? "") : `[${images.map(open).join(", ")}]`;
  const lines = [
    ...fields.map(([name, value]) => `  ${json(name)}: ${json(value)},`),
    ...(isEdit ? [`  image: ${list},`] : []),
    ...(mask === undefined ? [] : [`  mask: ${open(mask)},`]),
    '  response_format: "url",',
  ];
  return `${isEdit ? 'import { createReadStream } from "node:fs";\n' : ""}import OpenAI from "openai";

const client = new OpenAI({
  apiKey: process.env.SVC_API_KEY,
  baseURL: ${json(`${root}compat/v1`)},
});
const made = await client.images.${isEdit ? "edit" : "generate"}({
${lines.join("\n")}
});
console.log(made.data.map(({ url }) => url));
`;
}

function openaiPython(parts: Parts, { root, fields, images, mask }: CompatCall): string {
  const isEdit = images.length > 0;
  const open = (name: string) => `open(${json(name)}, "rb")`;
  const known = fields.filter(([name]) => OPENAI_FIELDS.includes(name));
  const others = fields.filter(([name]) => !OPENAI_FIELDS.includes(name));
  const lines = [
    ...known.map(([name, value]) => `    ${name}=${pythonLiteral(parts, value, "    ")},`),
    ...(isEdit ? [`    image=[${images.map(open).join(", ")}],`] : []),
    ...(mask === undefined ? [] : [`    mask=${open(mask)},`]),
    ...(others.length > 0
      ? [`    extra_body=${pythonLiteral(parts, Object.fromEntries(others), "    ")},`]
      : []),
    '    response_format="url",',
  ];
  return `import os

from openai import OpenAI

client = OpenAI(
    api_key=os.environ["SVC_API_KEY"],
    base_url=${json(`${root}compat/v1`)},
)
made = client.images.${isEdit ? "edit" : "generate"}(
${lines.join("\n")}
)
print([image.url for image in made.data])
`;
}
