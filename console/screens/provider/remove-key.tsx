import { ask } from "../../api/ask.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { say } from "../../shell/toasts.tsx";
import { type ProviderInFull, targetText } from "./read.ts";

interface Props {
  readonly provider: ProviderInFull;
  readonly account: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

/** Removes the kept key of an account. */
export function RemoveKey({ provider: { id }, account, onClose, onDone }: Props) {
  const name = targetText({ provider: id, account });
  const remove = async () => {
    const { in_force: isInForce } = await ask("POST /admin/v1/providers/{id}/remove", {
      path: { id },
      body: { account },
    });
    say(isInForce ? `The key of ${name} is removed.` : `The key of ${name} is removed with the next start.`);
    onDone();
    onClose();
  };
  return (
    <Confirm title={`Remove the key of ${name}?`} action="Remove the key" onYes={remove} onClose={onClose}>
      <p>
        The account is off then. Its tasks under way wait for it until their deadline; those that wait go to
        another account of the provider, or wait. Nobody can show the key again, so keep it elsewhere first if
        it is needed. At the provider it stays valid.
      </p>
    </Confirm>
  );
}
