import type { Command } from "commander";
import type { ManagedCallbackPage } from "../../src/domain/ports/callback-store.ts";
import { createAdminCalls, HARMLESS } from "../client/admin.ts";
import {
  type CallbackRequests,
  type Callbacks,
  callbackCalls,
  callbackRequests,
} from "../client/callbacks.ts";
import { createClient } from "../client/client.ts";
import type { ClientOptions } from "../client/exchange.ts";
import { clientOptions } from "../client/remote.ts";
import { type Invocation, onRun } from "../command.ts";
import type { Context } from "../context.ts";
import { readLocalConfig, showPath } from "../local.ts";
import { type CallerFlags, findCaller } from "./caller.ts";

/** Flags that choose among the callbacks of all accounts. */
export interface OwnerFlags extends CallerFlags {
  readonly allAccounts?: boolean;
  readonly account?: string;
  readonly ofKey?: string;
}

/** The callbacks that a command works with: those of a key's account, or an operator's, of all accounts. */
export interface CallbackPlace extends Pick<ClientOptions, "timing" | "signal"> {
  readonly callbacks: Callbacks;
  readonly isOperator: boolean;
  readonly isFolder: boolean;
  /** For messages, of operators: `in ./svc-data`, or `on https://svc.example`. */
  readonly at?: string | undefined;
  stop(): Promise<void>;
}

export interface CallbackInvocation<Options> extends Invocation<Options & OwnerFlags> {
  /** Finds out who the caller is, and opens the data folder if that is meant, until the action ends. */
  open(): Promise<CallbackPlace>;
}

/** For the help. */
export const FOR_OPERATORS =
  "With an API key, these are the callbacks of its account. Without one, a management token opens those of all accounts; beside a key, --all-accounts says that they are meant. --local or --data-dir opens those of a data folder. Operators see the host of an address alone: the rest is its owner's.";

/** Lets operators who have a key too say that the callbacks of all accounts are meant. */
export function withOperatorFlag(command: Command): Command {
  return command.option("--all-accounts", "callbacks of every account, with a management token");
}

/** Lets operators choose among the callbacks of all accounts. */
export function withOwnerFlags(command: Command): Command {
  return withOperatorFlag(command)
    .option("--account <account>", "only those of this account, by id or name; for operators")
    .option("--of-key <key>", "only those of the tasks of this key, by id or name; for operators");
}

/** The choice among all accounts as the API has it. */
export const ownersOf = ({ account, ofKey }: OwnerFlags) => ({ account, key_id: ofKey });

export function onCallbackRun<Options>(
  command: Command,
  context: Context,
  action: (invocation: CallbackInvocation<Options>) => Promise<void>,
): void {
  onRun<Options & OwnerFlags>(command, context, async (invocation) => {
    let place: CallbackPlace | undefined;
    const open = async () => {
      place = await openPlace(invocation);
      return place;
    };
    try {
      await action({ ...invocation, open });
    } finally {
      await place?.stop();
    }
  });
}

async function openPlace({
  options: flags,
  context,
  output,
}: Invocation<OwnerFlags>): Promise<CallbackPlace> {
  const isForOperators = [flags.allAccounts, flags.account, flags.ofKey].some((each) => each !== undefined);
  const caller = findCaller(flags, context, isForOperators);
  const options = clientOptions(flags, context, output);
  const rest = { timing: options.timing, signal: options.signal };
  if (caller.kind === "folder") return { ...rest, ...(await openFolderCallbacks(flags, context)) };
  const stop = async () => {};
  const { settings } = caller;
  if (caller.kind === "key")
    return { ...rest, stop, callbacks: createClient(settings, options), isOperator: false, isFolder: false };
  const calls = createAdminCalls(settings, options);
  const at = `on ${settings.server}`;
  // A person who reads a list should know whose it is; a script knows.
  if (context.stderr.isTerminal) output.say(`(${at})`);
  const requests = callbackRequests({
    get: (path, query) => calls.get(path, query),
    // A callback that is requested twice is sent once, unless the first send has begun.
    send: (path, body) => calls.send("POST", path, body, HARMLESS),
  });
  return { ...rest, stop, callbacks: operatorCalls(requests), isOperator: true, isFolder: false, at };
}

/** A page of an operator can be empty and not be the last: reads on until something is found. */
function operatorCalls(requests: CallbackRequests): Callbacks {
  const calls = callbackCalls(requests);
  return {
    ...calls,
    async callbacks(query) {
      for (let page = await calls.callbacks(query); ; ) {
        if (page.callbacks.length > 0 || page.next === null) return page;
        page = await calls.callbacks({ ...query, after: page.next });
      }
    },
  };
}

async function openFolderCallbacks(flags: OwnerFlags, context: Context) {
  const config = readLocalConfig(flags, context);
  // Loaded late: these import the whole service.
  const { openLocal } = await import("../../src/app/local.ts");
  const { callbackRestForm, managedCallbackForm } = await import(
    "../../src/domain/callback/callback-form.ts"
  );
  const local = await openLocal(config);
  const manage = await local.callbacks();
  const maxAttempts = config.callbacks.delaysMs.length + 1;
  const formOf = (callback: Parameters<typeof managedCallbackForm>[0]) =>
    managedCallbackForm(callback, maxAttempts);
  const pageForm = ({ callbacks, next }: ManagedCallbackPage) => ({
    callbacks: callbacks.map(formOf),
    next: next ?? null,
  });
  const callbacks = operatorCalls({
    list: async ({ task_id: taskId, key_id: key, limit = "20", ...query }) =>
      pageForm(await manage.list({ ...query, taskId, key, limit: Number(limit) })),
    async read(id) {
      const reading = await manage.read(id);
      return { ...formOf(reading.callback), ...callbackRestForm(reading) };
    },
    redeliver: async (id) => formOf(await manage.redeliver(id)),
    redeliverRange: async ({ task_id: taskId, key_id: key, limit, ...range }) =>
      pageForm(await manage.redeliverPage({ ...range, taskId, key })),
  });
  const at = `in ${showPath(config.dataDir, context.cwd)}`;
  return { callbacks, isOperator: true, isFolder: true, at, stop: () => local.stop() };
}
