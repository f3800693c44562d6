/** What an upstream says that it made. What it does not say, or leaves at `auto`, is absent. */
export interface Made {
  /** `1024x1024`. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
}
