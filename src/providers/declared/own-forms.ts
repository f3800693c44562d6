import { createHash } from "node:crypto";
import type { OwnFile } from "../../toolkit/own-files.ts";
import { reachedAddresses } from "./address-problems.ts";
import type { Form } from "./form.ts";
import { type LoadedForm, loadForm } from "./loaded.ts";
import type { Finding, FormText, ReadResult } from "./read-form.ts";

/** A form that an operator keeps. */
export interface OwnForm extends LoadedForm {
  readonly file: string;
}

/** What is wrong with an operator's file. */
export interface OwnFinding extends Finding {
  readonly file: string;
  /** Whether an earlier text of the file is still in force. */
  readonly keepsEarlier: boolean;
}

/** The forms in force, and what is wrong with files. */
export interface TakenForms {
  readonly forms: readonly OwnForm[];
  /** What the texts of the files say, by their hashes, whether it is in force or not. Broken ones are missing. */
  readonly checked: ReadonlyMap<string, Form>;
  readonly findings: readonly OwnFinding[];
}

/** A file, and what its text says. */
interface FileResult {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
  readonly result: ReadResult;
}

export interface OwnFormsOptions {
  /** The ids of providers that come along. */
  readonly builtIn: readonly string[];
  /** Reads and checks texts; `readForms`, or the same in a thread of its own. */
  readonly read: (texts: readonly FormText[]) => readonly ReadResult[] | Promise<readonly ReadResult[]>;
  /** Forms that need no checking, by the hashes of their texts. */
  readonly known?: ReadonlyMap<string, Form> | undefined;
  /** Why requests may not go to an address, as a clause; undefined where they may. */
  readonly refuseAddress?: ((url: string, form: Form) => string | undefined) | undefined;
}

/** The forms that an operator keeps in a folder. If a file is broken, its last good text stays in force. */
export class OwnForms {
  #good = new Map<string, OwnForm>();
  readonly #options: OwnFormsOptions;

  constructor(options: OwnFormsOptions) {
    this.#options = options;
  }

  /** Reads the files in their present state. Call it again only after it is done. */
  async take(files: readonly OwnFile[]): Promise<TakenForms> {
    const results = await this.#resultsOf(files);
    const twins = this.#twinsIn(results);
    const good = new Map<string, OwnForm>();
    const wrong = new Map<string, readonly Finding[]>();
    const checked = new Map<string, Form>();
    for (const { name, text, hash, result } of results) {
      if ("form" in result) checked.set(hash, result.form);
      const found = "form" in result ? this.#problemsOf(result.form, text, twins.get(name)) : result.findings;
      if (found.length > 0) wrong.set(name, found);
      else if ("form" in result) {
        const before = this.#good.get(name);
        good.set(name, before?.hash === hash ? before : { ...loadForm(result.form, hash, text), file: name });
      }
    }
    const findings = [...wrong].flatMap(([file, found]) => {
      const before = this.#good.get(file);
      const keepsEarlier = before !== undefined && !isTaken(before, [...good.values()]);
      if (keepsEarlier) good.set(file, before);
      return found.map((each) => ({ ...each, file, keepsEarlier }));
    });
    this.#good = new Map(results.flatMap(({ name }) => pairOf(name, good.get(name))));
    return { forms: [...this.#good.values()], checked, findings };
  }

  /** For each file that describes a provider as another does: why it is not taken. The one in force stays so. */
  #twinsIn(results: readonly FileResult[]): Map<string, string> {
    const claims = results.flatMap(({ name, result }) => {
      const form = "form" in result ? result.form : this.#good.get(name)?.form;
      return form === undefined ? [] : [{ name, provider: form.provider }];
    });
    const twins = new Map<string, string>();
    for (const same of Map.groupBy(claims, ({ provider }) => provider).values()) {
      const inForce = same.find(({ name, provider }) => this.#good.get(name)?.form.provider === provider);
      for (const { name, provider } of same) {
        const others = same.filter((each) => each.name !== name).map((each) => each.name);
        if (inForce === undefined && others.length > 0)
          twins.set(name, `"${provider}" is described by ${others.join(" and ")} too`);
        else if (inForce !== undefined && inForce.name !== name)
          twins.set(name, `"${provider}" is described by ${inForce.name} already`);
      }
    }
    return twins;
  }

  /** The form of each file. All unknown texts are read together. */
  async #resultsOf(files: readonly OwnFile[]): Promise<FileResult[]> {
    const known = new Map<string, ReadResult>();
    for (const [hash, form] of this.#options.known ?? []) known.set(hash, { form });
    for (const { hash, form } of this.#good.values()) known.set(hash, { form });
    const all = files.map((file) => {
      const text = "text" in file ? file.text : "";
      const unreadable = "problem" in file ? atStart(`the file ${file.problem}`) : undefined;
      return { name: file.name, text, hash: createHash("sha256").update(text).digest("hex"), unreadable };
    });
    const unread = all.filter(({ hash, unreadable }) => unreadable === undefined && !known.has(hash));
    if (unread.length > 0) {
      const read = await this.#options.read(unread.map(({ name, text }) => ({ file: name, text })));
      for (const [i, { hash }] of unread.entries()) known.set(hash, read[i] ?? atStart("cannot be read"));
    }
    return all.map(({ unreadable, ...file }) => {
      const result = unreadable ?? known.get(file.hash) ?? atStart("cannot be read");
      return { ...file, result };
    });
  }

  /** Why a form cannot be used beside the others, or at its addresses. */
  #problemsOf(form: Form, text: string, twin: string | undefined): readonly Finding[] {
    const at = (key: string, message: string) => [{ ...placeOf(text, key), message: `${key}: ${message}` }];
    const { provider, replaces = false } = form;
    if (twin !== undefined) return at("provider", twin);
    if (this.#options.builtIn.includes(provider) && !replaces)
      return at("provider", `"${provider}" is built in; choose another name, or say \`replaces: true\``);
    for (const { key, address } of reachedAddresses(form)) {
      const refusal = this.#options.refuseAddress?.(address, form);
      if (refusal !== undefined) return at(key, `${address} ${refusal}`);
    }
    return [];
  }
}

function pairOf(name: string, form: OwnForm | undefined): [string, OwnForm][] {
  return form === undefined ? [] : [[name, form]];
}

function atStart(message: string): ReadResult {
  return { findings: [{ line: 1, column: 1, message }] };
}

function isTaken({ form }: OwnForm, others: readonly OwnForm[]): boolean {
  return others.some((other) => other.form.provider === form.provider);
}

/** Where a member of the whole stands. */
function placeOf(text: string, key: string): { line: number; column: number } {
  const index = text.split("\n").findIndex((line) => line.startsWith(`${key}:`));
  return { line: Math.max(0, index) + 1, column: 1 };
}
