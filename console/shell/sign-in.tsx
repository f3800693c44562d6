import { useEffect, useState } from "preact/hooks";
import { comeIn } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Field } from "../parts/field.tsx";

/** Exchanges a key or a token for a session. What was typed is forgotten as soon as it was sent. */
export function SignInForm({ problem: first }: { readonly problem?: string | undefined }) {
  const [credential, setCredential] = useState("");
  const [problem, setProblem] = useState(first);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    try {
      await comeIn({ credential: credential.trim() });
      setCredential("");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      class="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (credential.trim() === "") setProblem("Type or paste an API key or a management token.");
        else void submit();
      }}
    >
      <Field
        label="API key or management token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        value={credential}
        onText={setCredential}
        problem={problem}
        hint="A key opens its own tasks; a token opens everything it may manage. The browser keeps neither."
      />
      <Button look="main" type="submit" isBusy={isBusy}>
        Sign in
      </Button>
    </form>
  );
}

/** In place of the console for whoever has not come in yet. */
export function SignIn({ problem }: { readonly problem?: string | undefined }) {
  useEffect(() => {
    // Not what the screen before was about, whose reader is gone.
    document.title = "svc console";
  }, []);
  return (
    <main class="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center gap-6 p-5">
      <div>
        <h1 class="text-2xl font-semibold tracking-tight">svc console</h1>
        <p class="mt-1 text-soft">Images and videos from many providers, behind one address.</p>
      </div>
      <div class="rounded-xl border border-line bg-card p-5">
        <SignInForm problem={problem} />
      </div>
      <p class="text-sm text-soft">
        Nothing at hand? On the machine of the service, <code class="font-mono">svc console link</code> prints
        a link that works once.
      </p>
    </main>
  );
}
