import { useEffect } from "preact/hooks";
import { Button } from "../../parts/button.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { UseIt } from "./use-it.tsx";

/** What is said of each kind of secret. */
const KINDS = {
  key: { label: "The key", about: "The service keeps only a hash of it." },
  token: { label: "The token", about: "The service keeps only a hash of it." },
  "callback secret": { label: "The callback secret", about: "Give it to whoever receives the callbacks." },
  link: { label: "The link", about: "It opens the console once, within 30 minutes, for whoever has it." },
} as const;

interface Props {
  readonly title: string;
  readonly secret: string;
  readonly kind?: keyof typeof KINDS;
  /** Models that a key may use. */
  readonly models?: readonly string[] | null | undefined;
  readonly onDone: () => void;
}

/** A secret, shown this once. It is closed by its button alone, and leaving the page asks first. */
export function SecretDialog({ title, secret, kind = "key", models, onDone }: Props) {
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, []);
  const { label, about } = KINDS[kind];
  return (
    <Dialog title={title} isFirm onClose={onDone}>
      <div class="flex min-w-0 flex-col gap-4">
        <p>
          Copy it now: <strong>it is shown this once.</strong> {about}
        </p>
        <CodeBlock label={label} text={secret} />
        {kind === "key" && <UseIt reader="operator" secret={secret} models={models} />}
        <div>
          <Button look="main" isOnce onClick={onDone}>
            I have kept it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
