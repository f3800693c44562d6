import type { Path } from "../../../toolkit/schema-problems.ts";
import type { ExampleForm, Form } from "../form.ts";
import { BUILT_IN_FORMS } from "../forms.ts";
import { headOf } from "../head.ts";
import { readingOf } from "../places.ts";
import { readsWhole } from "./search.ts";

/** Something that may be meant, or may be forgotten. */
export interface Doubt {
  readonly path: Path;
  readonly message: string;
  /** The key at `path` is meant, not its value. */
  readonly isKey?: boolean | undefined;
}

/** What a form does without and would be better with. */
export function doubtsAbout(form: Form): Doubt[] {
  return [
    ...builtInTwin(form),
    ...missingParts(form),
    ...exampleDoubts(form),
    ...(form.examples ?? []).flatMap((example, i) => unreadParameters(form, example, i)),
  ];
}

function builtInTwin({ provider, replaces = false }: Form): Doubt[] {
  if (replaces || !Object.hasOwn(BUILT_IN_FORMS, provider)) return [];
  const message = `"${provider}" is built in: in a data folder the file needs \`replaces: true\`, or another name`;
  return [{ path: ["provider"], message }];
}

function missingParts(form: Form): Doubt[] {
  const doubts: Doubt[] = [];
  if (form.test === undefined && !headOf(form).isKeyless)
    doubts.push({ path: [], message: "has no test, so `svc providers test` cannot prove its key" });
  if (form.refusals?.when === undefined)
    doubts.push({ path: [], message: "has no refusals.when, so refusals mean what their HTTP status says" });
  return doubts;
}

function exampleDoubts({ examples = [] }: Form): Doubt[] {
  if (examples.length === 0)
    return [{ path: [], message: "has no examples, so it is tried with answers made from the form alone" }];
  const path: Path = ["examples"];
  const doubts: Doubt[] = [];
  if (!examples.some(({ ends }) => ends === "succeeded"))
    doubts.push({ path, message: "none of the examples succeeds", isKey: true });
  if (!examples.some(({ ends }) => isModerated(ends)))
    doubts.push({
      path,
      message: "no example ends moderated, so nothing shows that refused content is known as such",
      isKey: true,
    });
  return doubts;
}

function isModerated(ends: ExampleForm["ends"]): boolean {
  if (typeof ends === "string") return false;
  return "failed" in ends ? ends.failed === "moderated" : ends.refused === "moderated";
}

/** Parameters of an example that the form does nothing with. */
function unreadParameters({ examples: _, ...form }: Form, example: ExampleForm, i: number): Doubt[] {
  const { places } = readingOf(form);
  const isAnyRead = readsWhole(places, "params") || places.some(({ root }) => root === "fields");
  if (isAnyRead) return [];
  const read = new Set(places.filter(({ root }) => root === "params").map(({ steps }) => steps[0]));
  return Object.keys(example.request.params ?? {})
    .filter((name) => !read.has(name))
    .map((name) => ({
      path: ["examples", i, "request", "params", name],
      message: `no expression reads params.${name}, so it is not sent`,
      isKey: true,
    }));
}
