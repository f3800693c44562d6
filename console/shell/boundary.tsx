import { Component, type ComponentChildren } from "preact";
import { Button } from "../parts/button.tsx";
import { Trouble } from "../parts/trouble.tsx";

interface Props {
  /** Another one begins anew. */
  readonly about: string;
  readonly children: ComponentChildren;
}

/** Keeps a defect of one screen from taking the others along. */
export class Boundary extends Component<Props, { readonly error?: unknown; readonly about?: string }> {
  override state: { error?: unknown; about?: string } = {};

  static override getDerivedStateFromError(error: unknown) {
    return { error };
  }

  static override getDerivedStateFromProps({ about }: Props, state: { readonly about?: string }) {
    return state.about === about ? null : { about, error: undefined };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div class="flex flex-col gap-3">
        <h1 tabIndex={-1} class="text-2xl font-semibold">
          This screen does not work
        </h1>
        <Trouble problem={error} again={() => this.setState({ error: undefined })} />
        <div>
          <Button onClick={() => location.reload()}>Load the console anew</Button>
        </div>
      </div>
    );
  }
}
