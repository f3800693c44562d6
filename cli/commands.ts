import type { Command } from "commander";
import type { Context } from "./context.ts";
import { HELP_TOPICS } from "./help/topics.ts";

/** Under which heading the help lists a command. */
const SERVER = "Server:";
const LOCAL = "On a data folder of this machine:";
const ADMIN = "On a data folder of this machine, or on a server with a management token:";
const CLIENT = "On a running server:";
const OTHER = "Other:";

/** Gives a command its flags, its examples and its action, or its commands. @param words that follow it on the command line */
type Define = (command: Command, context: Context, words: readonly string[]) => void;

/** A command of the first level, as far as it is known without its module, which is loaded when it is needed. */
export interface Entry {
  /** Its name and its arguments. */
  readonly usage: string;
  readonly aliases?: readonly string[];
  readonly heading: string;
  readonly about: string;
  readonly load: () => Promise<Define>;
}

/** In the order that the help lists them. */
export const COMMANDS: readonly Entry[] = [
  {
    heading: SERVER,
    usage: "serve",
    about: "run the service; works without any settings",
    load: async () => (await import("./commands/serve.ts")).defineServe,
  },
  {
    heading: SERVER,
    usage: "service",
    about: "run it as a service of systemd",
    load: async () => (await import("./commands/service.ts")).defineService,
  },
  {
    heading: CLIENT,
    usage: "image [prompt]",
    about: "make an image, save it here and show it",
    load: async () => (await import("./commands/make.ts")).defineImage,
  },
  {
    heading: CLIENT,
    usage: "edit <images-and-prompt...>",
    about: "change images as a prompt says, the last argument",
    load: async () => (await import("./commands/make.ts")).defineEdit,
  },
  {
    heading: CLIENT,
    usage: "video [prompt]",
    about: "make a video, save it here and show its first picture",
    load: async () => (await import("./commands/make.ts")).defineVideo,
  },
  {
    heading: CLIENT,
    usage: "estimate",
    about: "tell what a request would cost",
    load: async () => (await import("./commands/estimate.ts")).defineEstimate,
  },
  {
    heading: CLIENT,
    usage: "task",
    aliases: ["tasks"],
    about: "create tasks, follow them and save their results",
    load: async () => (await import("./commands/task.ts")).defineTask,
  },
  {
    heading: CLIENT,
    usage: "group",
    aliases: ["groups"],
    about: "make one prompt with several models and parameters, and compare the results",
    load: async () => (await import("./commands/group.ts")).defineGroup,
  },
  {
    heading: CLIENT,
    usage: "files",
    about: "upload files for later tasks, list and delete them",
    load: async () => (await import("./commands/files.ts")).defineFiles,
  },
  {
    heading: CLIENT,
    usage: "models",
    aliases: ["model"],
    about: "list models and the inputs they take, and begin one of your own",
    load: async () => (await import("./commands/models.ts")).defineModels,
  },
  {
    heading: CLIENT,
    usage: "callbacks",
    aliases: ["callback"],
    about: "see the callbacks of ended tasks, and receive them on your own machine",
    load: async () => (await import("./commands/callbacks.ts")).defineCallbacks,
  },
  {
    heading: CLIENT,
    usage: "mcp",
    about: "give agents the models as tools, over standard input and output",
    load: async () => (await import("./commands/mcp.ts")).defineMcp,
  },
  {
    heading: CLIENT,
    usage: "login",
    about: "keep a server and its key for later commands, as a profile",
    load: async () => (await import("./commands/login.ts")).defineLogin,
  },
  {
    heading: CLIENT,
    usage: "logout",
    about: "remove a profile with its key; on the server the key stays",
    load: async () => (await import("./commands/logout.ts")).defineLogout,
  },
  {
    heading: CLIENT,
    usage: "whoami",
    about: "show the server, the account, the key and its limits",
    load: async () => (await import("./commands/whoami.ts")).defineWhoami,
  },
  {
    heading: CLIENT,
    usage: "top",
    about: "watch how a server does",
    load: async () => (await import("./commands/top.ts")).defineTop,
  },
  {
    heading: CLIENT,
    usage: "api <method> <path>",
    about: "send any request to the server's API",
    load: async () => (await import("./commands/api.ts")).defineApi,
  },
  {
    heading: ADMIN,
    usage: "config",
    about: "the settings: show where each was given, check them, compare them",
    load: async () => (await import("./commands/config.ts")).defineConfig,
  },
  {
    heading: ADMIN,
    usage: "keys",
    aliases: ["key"],
    about: "API keys",
    load: async () => (await import("./commands/keys.ts")).defineKeys,
  },
  {
    heading: ADMIN,
    usage: "accounts",
    aliases: ["account"],
    about: "manage accounts, which own keys, tasks and money",
    load: async () => (await import("./commands/accounts.ts")).defineAccounts,
  },
  {
    heading: ADMIN,
    usage: "pricing",
    about: "what each model costs",
    load: async () => (await import("./commands/pricing.ts")).definePricing,
  },
  {
    heading: CLIENT,
    usage: "log",
    about: "how much a server's log tells; takes a management token",
    load: async () => (await import("./commands/log.ts")).defineLog,
  },
  {
    heading: LOCAL,
    usage: "logs",
    about: "the log that a server keeps in its data folder; filter it, follow it",
    load: async () => (await import("./commands/logs.ts")).defineLogs,
  },
  {
    heading: ADMIN,
    usage: "routes",
    aliases: ["route"],
    about: "the ways that tasks take: their state, why one is chosen, blocking one",
    load: async () => (await import("./commands/routes.ts")).defineRoutes,
  },
  {
    heading: ADMIN,
    usage: "nodes",
    aliases: ["node"],
    about: "the nodes that share a PostgreSQL database",
    load: async () => (await import("./commands/nodes.ts")).defineNodes,
  },
  {
    heading: ADMIN,
    usage: "console",
    about: "links to the console, and who is there",
    load: async () => (await import("./commands/console.ts")).defineConsole,
  },
  {
    heading: ADMIN,
    usage: "tokens",
    aliases: ["token"],
    about: "management tokens; model APIs refuse them",
    load: async () => (await import("./commands/tokens.ts")).defineTokens,
  },
  {
    heading: ADMIN,
    usage: "ledger <account>",
    about: "list all movements of an account's money, newest first",
    load: async () => (await import("./commands/ledger.ts")).defineLedger,
  },
  {
    heading: ADMIN,
    usage: "usage",
    about: "report tasks, charges and the margin",
    load: async () => (await import("./commands/usage.ts")).defineUsage,
  },
  {
    heading: ADMIN,
    usage: "audit",
    about: "recompute every balance, hold, charge, quota and usage, and report differences",
    load: async () => (await import("./commands/audit.ts")).defineAudit,
  },
  {
    heading: ADMIN,
    usage: "providers",
    aliases: ["provider"],
    about: "providers, their keys, and files that describe one",
    load: async () => (await import("./commands/providers.ts")).defineProviders,
  },
  {
    heading: LOCAL,
    usage: "import",
    about: "move in from LiteLLM, new-api, one-api or an environment with keys: a plan first, then --apply",
    load: async () => (await import("./commands/import.ts")).defineImport,
  },
  {
    heading: LOCAL,
    usage: "moderation",
    about: "try the checks of what callers ask for on a text",
    load: async () => (await import("./commands/moderation.ts")).defineModeration,
  },
  {
    heading: LOCAL,
    usage: "alerts",
    about: "try who is told of what goes wrong",
    load: async () => (await import("./commands/alerts.ts")).defineAlerts,
  },
  {
    heading: LOCAL,
    usage: "doctor",
    about:
      "look for what is wrong with the machine, the settings, the data and the providers, and say how to put it right",
    load: async () => (await import("./commands/doctor.ts")).defineDoctor,
  },
  {
    heading: LOCAL,
    usage: "migrate [action]",
    about: "bring the database up to date (up), or show its migrations (status)",
    load: async () => (await import("./commands/migrate.ts")).defineMigrate,
  },
  {
    heading: LOCAL,
    usage: "assets",
    aliases: ["asset"],
    about: "list the stored files, verify them, and remove those that no task has",
    load: async () => (await import("./commands/assets.ts")).defineAssets,
  },
  {
    heading: LOCAL,
    usage: "db",
    about: "back up a data folder and restore it, check its database, give free pages back",
    load: async () => (await import("./commands/db.ts")).defineDb,
  },
  {
    heading: OTHER,
    usage: "complete <shell>",
    aliases: ["completion"],
    about: "print what makes a shell complete commands, flags and names",
    load: async () => (await import("./commands/complete.ts")).defineComplete,
  },
  {
    heading: OTHER,
    usage: "upgrade",
    about: "say whether there is a newer version",
    load: async () => (await import("./commands/upgrade.ts")).defineUpgrade,
  },
  {
    heading: OTHER,
    usage: "version",
    about: "print the version",
    load: async () => (await import("./commands/version.ts")).defineVersion,
  },
  {
    heading: OTHER,
    usage: "help [topic...]",
    about: `explain a command, or one of: ${HELP_TOPICS.join(", ")}`,
    load: async () => (await import("./commands/help.ts")).defineHelp,
  },
];

/** The commands, those that a command line needs with all that they have. @param given none: every command is needed */
export async function addEntries(
  program: Command,
  context: Context,
  given?: readonly string[],
): Promise<void> {
  const args = given ?? [];
  // `svc help` explains every command.
  const needsAll = given === undefined || args.includes("help");
  // No other is asked for. Without one the error or the help names them all.
  const first = COMMANDS.find((entry) => namesOf(entry).includes(args[0] ?? ""));
  for (const entry of needsAll || first === undefined ? COMMANDS : [first]) {
    const { usage, aliases = [], heading, about, load } = entry;
    const command = program
      .command(usage)
      .aliases(aliases)
      .description(about)
      .helpGroup(heading)
      .helpCommand(false);
    const at = args.findIndex((word) => namesOf(entry).includes(word));
    if (at === -1 && !needsAll) continue;
    (await load())(command, context, at === -1 ? [] : args.slice(at + 1));
  }
}

function namesOf({ usage, aliases = [] }: Entry): readonly string[] {
  return [usage.split(" ", 1)[0] ?? "", ...aliases];
}
