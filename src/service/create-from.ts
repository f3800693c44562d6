import type { CreateTask, CreateTaskRequest } from "./create-task.ts";
import type { CreatedTask } from "./created-task.ts";

/** Fields of a create that depend on what it is made from. */
type Read = Pick<
  CreateTaskRequest,
  "kind" | "body" | "callback" | "hops" | "hasPaintedMasks" | "resultType" | "parent"
>;

/** Fields that are known before. `identity` and `endpoint` say which requests are the same. */
export type FollowingRequest = Omit<CreateTaskRequest, keyof Read> &
  Pick<CreateTaskRequest, "hops"> & { readonly identity: NonNullable<CreateTaskRequest["identity"]> };

/**
 * Creates a task from what `read` finds, such as an earlier task. If that is gone, a request that was accepted before with the
 * same idempotency key still gets its earlier answer.
 * @throws whatever `read` and the create throw
 */
export async function createFrom(
  createTask: CreateTask,
  request: FollowingRequest,
  read: () => Promise<Read>,
): Promise<CreatedTask> {
  const { found, refused } = await readOrRefused(read);
  if (found === undefined) return createTask({ ...request, ...NOTHING, refused });
  return createTask({ ...request, ...found });
}

/** Of a create whose source cannot be read; see `CreateTaskRequest.refused`. */
export const NOTHING = { kind: "image", body: {} } as const;

/** What is read, or the error with which a create is then `refused`. */
export async function readOrRefused<T extends object>(
  read: () => Promise<T>,
): Promise<
  | { readonly found: T; readonly refused?: undefined }
  | { readonly found?: undefined; readonly refused: unknown }
> {
  try {
    return { found: await read() };
  } catch (refused) {
    return { refused };
  }
}
