interface Stoppable {
  stop(): Promise<void>;
}

/** Everything a bench starts, stopped in reverse order however it ends. */
export class Resources implements AsyncDisposable {
  private readonly opened: Stoppable[] = [];

  async open<T extends Stoppable>(opening: Promise<T>): Promise<T> {
    const resource = await opening;
    this.opened.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.opened.reverse()) await resource.stop();
    this.opened.length = 0;
  }
}
