import { signal } from "@preact/signals";
import { comeIn, readSession, session } from "../api/session.ts";
import { Trouble } from "../parts/trouble.tsx";
import { Frame } from "./frame.tsx";
import { SignIn } from "./sign-in.tsx";

/** Why the start did not get as far as knowing who is there. */
const problem = signal<unknown>(undefined);
/** Why the link in the address does not open the console. */
const refusal = signal<string | undefined>(undefined);

const LINK = /^#link=([0-9A-Za-z]{1,200})$/;

/** Finds out who is there. A link in the address is taken out of it first, so that it stays in no history. */
export async function start(): Promise<void> {
  problem.value = undefined;
  const link = LINK.exec(location.hash)?.[1];
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  try {
    if (link === undefined) return await readSession();
    await comeIn({ link });
  } catch (error) {
    if (link === undefined) problem.value = error;
    else {
      refusal.value = error instanceof Error ? error.message : String(error);
      await readSession().catch((other: unknown) => {
        problem.value = other;
      });
    }
  }
}

/** A link that is opened where the console is already loads no page by itself: only what follows `#` is another one. */
export function startLinks(): void {
  addEventListener("hashchange", () => {
    if (LINK.test(location.hash)) location.reload();
  });
}

export function App() {
  if (problem.value !== undefined)
    return (
      <main class="mx-auto flex min-h-dvh max-w-xl flex-col justify-center p-5">
        <h1 class="mb-3 text-2xl font-semibold">svc console</h1>
        <Trouble problem={problem.value} again={() => void start()} />
      </main>
    );
  if (session.value === undefined) return null;
  return session.value === null ? <SignIn problem={refusal.value} /> : <Frame session={session.value} />;
}
