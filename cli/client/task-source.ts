import { isJsonObject } from "../../src/domain/json.ts";
import type { ClientSettings } from "../environment.ts";
import { EXIT } from "../exit-codes.ts";
import { Failure } from "../failure.ts";
import type { TaskView } from "./answer.ts";
import { type Client, createClient } from "./client.ts";
import type { ClientOptions } from "./exchange.ts";
import type { Attempt } from "./retry.ts";
import type { StoryView } from "./story.ts";

export interface TaskPage {
  readonly tasks: readonly TaskView[];
  /** Null on the last page. */
  readonly next: string | null;
}

/** Tasks to watch: those of an account, or of all. Every method throws a Failure when it is refused or gets no answer. */
export interface TaskSource extends Pick<Client, "server" | "fetchFile"> {
  readonly isOfAll: boolean;
  /** A page of the tasks, or of those with a status; newest first. */
  page(after: string | undefined, status?: string): Promise<TaskPage>;
  story(id: string): Promise<StoryView>;
  cancel(id: string): Promise<TaskView>;
  /** Creates a task like one that has ended. Only its owner may. @returns its id */
  retry(id: string): Promise<string>;
  /** Absent where no single account spends. */
  readonly spentToday?: () => Promise<string | undefined>;
  /** Opens the stream of changes. Tried once. */
  events(lastEventId: string | undefined, signal: AbortSignal): Promise<Attempt<ReadableStream<Uint8Array>>>;
}

const PAGE = "100";

/** The tasks of the account that an API key belongs to. */
export function ownTasks(settings: ClientSettings, options: ClientOptions): TaskSource {
  const client = createClient(settings, options);
  /** Keys of retries without an answer, by the task: asked for again, each makes one task. */
  const open = new Map<string, string>();
  return {
    ...client,
    isOfAll: false,
    page: (after, status) => client.tasks({ limit: PAGE, after, status }),
    async retry(id) {
      const key = open.get(id) ?? crypto.randomUUID();
      open.set(id, key);
      const { taskId } = await client.retry(id, key);
      open.delete(id);
      return taskId;
    },
    async spentToday() {
      const { usage } = await client.accountStatus();
      const { cost, currency } = isJsonObject(usage) && isJsonObject(usage.today) ? usage.today : {};
      return typeof cost === "string" ? `${cost} ${String(currency ?? "")}`.trim() : undefined;
    },
    events: client.taskEvents,
  };
}

/** The tasks of all accounts, with a management token. */
export function allTasks(settings: ClientSettings, options: ClientOptions): TaskSource {
  const { server, fetchFile, managedTasks, managedStory, managedCancel, managedEvents } = createClient(
    settings,
    options,
  );
  return {
    ...{ server, fetchFile },
    isOfAll: true,
    page: (after, status) => managedTasks({ limit: PAGE, after, status }),
    story: managedStory,
    cancel: managedCancel,
    async retry() {
      throw new Failure(
        EXIT.auth,
        "not_owner",
        "Only a key of the account that owns a task can create one like it.",
      );
    },
    events: managedEvents,
  };
}
