import { ended, giveUp } from "../api/session.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { SignInForm } from "./sign-in.tsx";

/** Over the open screen, which stays as it is: what was typed there is not lost, and what waited for an answer goes on. */
export function SessionEnded() {
  if (ended.value === undefined) return null;
  return (
    <Dialog title="Your session has ended" isFirm onClose={giveUp}>
      <p class="mb-4 text-soft">Sign in again to go on where you are. Nothing that you typed is lost.</p>
      <SignInForm />
      <div class="mt-3">
        <Button look="quiet" onClick={giveUp}>
          Leave the console
        </Button>
      </div>
    </Dialog>
  );
}
