/** What an upstream reports that it made. Values that it does not report, or reports as `auto`, are absent. */
export interface Made {
  /** `1024x1024`. */
  readonly size?: string | undefined;
  readonly quality?: string | undefined;
  readonly background?: string | undefined;
}
