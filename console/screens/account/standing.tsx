import { ask } from "../../api/ask.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { say } from "../../shell/toasts.tsx";
import type { Account } from "./read.ts";

interface Props {
  readonly account: Account;
  readonly onClose: () => void;
  readonly onChange: (account: Account) => void;
}

/** Refuses an account's keys, or takes them again. */
export function Standing({ account, onClose, onChange }: Props) {
  const path = { id: account.id };
  const isActive = account.status === "active";
  const change = async () => {
    onChange(
      isActive
        ? await ask("POST /admin/v1/accounts/{id}/suspend", { path })
        : await ask("POST /admin/v1/accounts/{id}/activate", { path }),
    );
    say(`${account.name} is ${isActive ? "suspended" : "active"}.`);
    onClose();
  };
  return isActive ? (
    <Confirm title={`Suspend ${account.name}?`} action="Suspend it" onYes={change} onClose={onClose}>
      <p>All its keys are refused within a second. Tasks that were accepted go on and are charged.</p>
    </Confirm>
  ) : (
    <Confirm
      title={`Activate ${account.name}?`}
      action="Activate it"
      look="main"
      onYes={change}
      onClose={onClose}
    >
      <p>Its keys are taken again, each with the limits that it has.</p>
    </Confirm>
  );
}
