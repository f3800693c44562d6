import type { Command } from "commander";
import type { Context } from "./context.ts";

/** A command of the first level, whose module is loaded when it is needed. */
export interface Entry {
  /** Its name and its aliases. */
  readonly names: readonly string[];
  readonly load: () => Promise<(program: Command, context: Context) => void>;
}

/** In the order that the help lists them. */
export const COMMANDS: readonly Entry[] = [
  { names: ["serve"], load: async () => (await import("./commands/serve.ts")).addServe },
  { names: ["image"], load: async () => (await import("./commands/make.ts")).addImage },
  { names: ["edit"], load: async () => (await import("./commands/make.ts")).addEdit },
  { names: ["video"], load: async () => (await import("./commands/make.ts")).addVideo },
  { names: ["estimate"], load: async () => (await import("./commands/estimate.ts")).addEstimate },
  { names: ["task", "tasks"], load: async () => (await import("./commands/task.ts")).addTask },
  { names: ["models", "model"], load: async () => (await import("./commands/models.ts")).addModels },
  {
    names: ["callbacks", "callback"],
    load: async () => (await import("./commands/callbacks.ts")).addCallbacks,
  },
  { names: ["login"], load: async () => (await import("./commands/login.ts")).addLogin },
  { names: ["logout"], load: async () => (await import("./commands/logout.ts")).addLogout },
  { names: ["whoami"], load: async () => (await import("./commands/whoami.ts")).addWhoami },
  { names: ["top"], load: async () => (await import("./commands/top.ts")).addTop },
  { names: ["api"], load: async () => (await import("./commands/api.ts")).addApi },
  { names: ["keys", "key"], load: async () => (await import("./commands/keys.ts")).addKeys },
  { names: ["accounts", "account"], load: async () => (await import("./commands/accounts.ts")).addAccounts },
  { names: ["pricing"], load: async () => (await import("./commands/pricing.ts")).addPricing },
  { names: ["tokens", "token"], load: async () => (await import("./commands/tokens.ts")).addTokens },
  { names: ["ledger"], load: async () => (await import("./commands/ledger.ts")).addLedger },
  { names: ["usage"], load: async () => (await import("./commands/usage.ts")).addUsage },
  { names: ["audit"], load: async () => (await import("./commands/audit.ts")).addAudit },
  { names: ["migrate"], load: async () => (await import("./commands/migrate.ts")).addMigrate },
  {
    names: ["complete", "completion"],
    load: async () => (await import("./commands/complete.ts")).addComplete,
  },
  { names: ["version"], load: async () => (await import("./commands/version.ts")).addVersion },
  { names: ["help"], load: async () => (await import("./commands/help.ts")).addHelp },
];

/** Those that explain the others and need them all. */
const EXPLAINING = ["help"];

/** What a command line needs: one entry when it begins with a command's name, otherwise all. */
export function entriesFor(args: readonly string[]): readonly Entry[] {
  const [word = ""] = args;
  if (EXPLAINING.includes(word)) return COMMANDS;
  const found = COMMANDS.filter(({ names }) => names.includes(word));
  return found.length === 0 ? COMMANDS : found;
}
