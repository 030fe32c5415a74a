/** A refusal of the virtual API: its status and one sentence. */
export class Problem extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** Both forms that the services behind the real API speak: `message`, and the fields of a problem document. */
  body(): object {
    return { message: this.message, title: this.message, status: this.status, detail: this.message };
  }
}

export function notFound(what: string, id: string): Problem {
  return new Problem(404, `${what} ${id} not found`);
}
