import bash from "./scripts/svc.bash" with { type: "text" };
import fish from "./scripts/svc.fish" with { type: "text" };
import powershell from "./scripts/svc.ps1" with { type: "text" };
import zsh from "./scripts/svc.zsh" with { type: "text" };

/** The shells that `svc complete` knows. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = (typeof SHELLS)[number];

/** What a shell reads to complete command lines. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash, zsh, fish, powershell };

/** What makes a shell read it in each new session. */
export const LOADING: Readonly<Record<Shell, string>> = {
  bash: "echo 'source <(svc complete bash)' >> ~/.bashrc",
  zsh: "echo 'source <(svc complete zsh)' >> ~/.zshrc",
  fish: "svc complete fish > ~/.config/fish/completions/svc.fish",
  powershell: "Add-Content $PROFILE 'svc complete powershell | Out-String | Invoke-Expression'",
};
