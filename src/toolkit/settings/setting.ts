import type { Parser } from "./parsers.ts";
import type { Secret } from "./secret.ts";

/** One thing an operator can decide: by flag, by variable or in the settings file. */
export interface Setting<T> {
  readonly kind: "setting";
  /** Its place in the settings file, with dots between the levels. */
  readonly key: string;
  /** A variable of customary name, read where the program's own is not set. */
  readonly customaryEnv?: string | undefined;
  /** With its argument: `--port <port>`. Absent: there is none, because few would give it there. */
  readonly flag?: string | undefined;
  /** The name of the parsed flag; the key where there is none. */
  readonly option: string;
  readonly help: string;
  readonly parse: Parser<T>;
  readonly fallback: T;
  /** The default, for people; absent where the help says it. */
  readonly fallbackText?: string | undefined;
  /** Its value may hold a password: a wrong one is not quoted. */
  readonly isSecret?: true | undefined;
  /** A running server applies another value; all other settings wait for a restart. */
  readonly live?: true | undefined;
}

/** A key, such as to another service. Only the environment may hold one: other users can read argument lists and files. */
export interface Credential {
  readonly kind: "credential";
  readonly variable: string;
  /** The name of the setting, in the same table, that holds the address the key is sent to; absent: it is sent nowhere. */
  readonly sentTo?: string | undefined;
  /** A key of up to 512 characters unless given. */
  readonly parse?: Parser<string> | undefined;
}

/** Settings and credentials by name. */
export interface SettingTable {
  readonly [name: string]: Setting<unknown> | Credential;
}

export interface SettingTree {
  readonly [name: string]: Setting<unknown> | Credential | SettingTree;
}

/** A tree's values, in the shape of the tree. */
export type ValuesOf<Tree> = { readonly [Name in keyof Tree]: ValueOf<Tree[Name]> };
type ValueOf<Node> =
  Node extends Setting<infer T> ? T : Node extends Credential ? Secret | undefined : ValuesOf<Node>;

/** What defaults and limits of settings depend on. */
export interface Machine {
  readonly cores: number;
}

/** Declares a setting. Its option follows from its flag. */
export function setting<T>(given: Omit<Setting<T>, "kind" | "option">): Setting<T> {
  const long = /--(?:no-)?([a-z\d-]+)/.exec(given.flag ?? "")?.[1];
  if (long === undefined) return { ...given, kind: "setting", option: given.key };
  return {
    ...given,
    kind: "setting",
    option: long.replaceAll(/-([a-z\d])/g, (_, letter: string) => letter.toUpperCase()),
  };
}

export function credential(given: Omit<Credential, "kind">): Credential {
  return { ...given, kind: "credential" };
}

/** A tree's settings, in its order. Credentials are left out. */
export function listSettings(tree: SettingTree): Setting<unknown>[] {
  return Object.values(tree).flatMap((node) => {
    if (isSetting(node)) return [node];
    return isCredential(node) ? [] : listSettings(node);
  });
}

/** Reads every setting and credential of a tree. */
export function readTree<Tree extends SettingTree>(
  tree: Tree,
  read: (node: Setting<unknown> | Credential) => unknown,
): ValuesOf<Tree> {
  const entries = Object.entries(tree).map(([name, node]) => [
    name,
    isSetting(node) || isCredential(node) ? read(node) : readTree(node, read),
  ]);
  // The values have the tree's names and its settings' types, which the compiler cannot follow through `entries`.
  return Object.fromEntries(entries) as ValuesOf<Tree>;
}

/** A group may hold a setting named `kind`, which is an object then. */
export function isSetting(node: SettingTree[string]): node is Setting<unknown> {
  return node.kind === "setting";
}

export function isCredential(node: SettingTree[string]): node is Credential {
  return node.kind === "credential";
}
