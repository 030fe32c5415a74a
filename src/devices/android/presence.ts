import { setImmediate as turn, setTimeout as pause } from "node:timers/promises";
import { AdbError } from "./adb-socket.ts";
import type { AdbServer } from "./adb-server.ts";
import type { ListedDevice } from "./device-list.ts";
import { BOOT_ID_FILE, IDENTITY_COMMAND, readIdentity, type IdentityVerdict } from "./identity.ts";
import type { Log } from "./log.ts";
import { MissedReadings } from "./missed-readings.ts";
import { ServerLink } from "./server-link.ts";
import { Session, type Knowledge } from "./session.ts";
import type { Sight } from "./sight.ts";

export interface PresencePorts {
  readonly server: AdbServer;
  readonly pollMs: number;
  readonly settleMs: number;
  readonly log: Log;
  /** Starts an adb server where none listens; called at most once. */
  readonly startServer: () => Promise<void>;
}

/** What is connected at one moment, on a server of this protocol version. */
export interface Look {
  readonly sights: readonly Sight[];
  readonly protocol: number;
}

export interface LookOptions {
  /** Wait until each device has said who it is, within bounds. */
  readonly settle?: boolean;
  /** Start a server where none listens. */
  readonly start?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Time limits in milliseconds. */
const IDENTITY_MS = 10_000;
const PROOF_MS = 5_000;
/** How long a reading waits for devices that are asked who they are. */
const SETTLE_MS = 5_000;
/** How often a list that is not complete yet is read again. */
const SETTLE_STEP_MS = 250;
/** A device that was heard of within this time is not asked again. */
const HEARD_MS = 20_000;
/** A device that could not say who it is is asked again after this. */
const ASK_AGAIN_MS = 2_000;
const FRESH_ATTEMPTS = 3;

interface Watcher {
  readonly changed: (sights: readonly Sight[]) => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Which devices are connected and who they are. It tracks the server's list and polls it too: adb 29 does not tell that a TCP device has gone.
 * An identity is asked once a connection and believed only while that connection stands without a break.
 */
export class Presence {
  readonly #ports: PresencePorts;
  readonly #link: ServerLink<Session>;
  readonly #ended = new AbortController();
  readonly #watchers = new Set<Watcher>();
  readonly #missed: MissedReadings;
  #poll: NodeJS.Timeout | undefined;
  #polling = false;
  #telling = false;
  #later: NodeJS.Timeout | undefined;

  constructor(ports: PresencePorts) {
    this.#ports = ports;
    this.#missed = new MissedReadings(ports.pollMs);
    this.#link = new ServerLink({
      signal: this.#ended.signal,
      log: ports.log,
      startServer: ports.startServer,
      session: (young, up, signal) => this.#follow(young, up, signal),
      lost: (error) => this.#fail(error),
    });
  }

  /** Calls back soon after each change and at each poll. Returns the end of it. */
  watch(changed: Watcher["changed"], failed: Watcher["failed"]): () => void {
    const watcher = { changed, failed };
    this.#watchers.add(watcher);
    this.#poll ??= setInterval(() => void this.#onPoll(), this.#ports.pollMs);
    void this.#onPoll();
    return () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size > 0) return;
      clearInterval(this.#poll);
      this.#poll = undefined;
    };
  }

  /** The server's list as it is now, with what is known of each device. */
  async look({ settle = false, start = false, signal }: LookOptions): Promise<Look> {
    let session = await this.#fresh(start, signal);
    if (settle) {
      while (session.incompleteForMs > 0) {
        await pause(Math.min(session.incompleteForMs, SETTLE_STEP_MS), undefined, { signal: this.#either(signal) });
        session = await this.#fresh(false, signal);
      }
      for (const known of session.known) this.#ask(session, known, 0);
      const enough = new AbortController();
      await Promise.race([
        Promise.all(session.known.map((known) => known.asking)),
        pause(SETTLE_MS, undefined, { signal: AbortSignal.any([this.#either(signal), enough.signal]) }),
      ]).finally(() => enough.abort());
    }
    return { sights: session.sights, protocol: session.protocol };
  }

  /** Asks the device on this connection whether it is still the one that we know. A "no" is forgotten at once. */
  async prove(listed: ListedDevice, signal?: AbortSignal): Promise<boolean> {
    const session = await this.#link.connect(false, signal);
    const known = session.knownOf(listed);
    if (known?.verdict?.kind !== "known") return false;
    await this.#hear(session, known, signal);
    return this.#link.current === session && session.holds(known) && !known.silent;
  }

  async dispose(): Promise<void> {
    clearInterval(this.#poll);
    clearTimeout(this.#later);
    this.#watchers.clear();
    this.#ended.abort();
    await this.#link.ended();
  }

  /** One life of a server: begins with its first list and ends by throwing. */
  async #follow(young: boolean, up: (session: Session) => void, signal: AbortSignal): Promise<never> {
    const { server, settleMs } = this.#ports;
    const session = new Session(await server.version(signal), { young, settleMs });
    return server.track(signal, (devices) => {
      if (devices !== undefined) this.#apply(session, devices);
      up(session);
      if (devices === undefined) void this.#onPoll();
      else this.#tell();
    });
  }

  /**
   * Reads the list and sees that it is of the server that we track: the socket of one that has ended is closed before the next can listen, so
   * after one more turn of the event loop we know.
   */
  async #fresh(start: boolean, signal: AbortSignal | undefined): Promise<Session> {
    for (let attempt = 1; attempt <= FRESH_ATTEMPTS; attempt += 1) {
      const session = await this.#link.connect(start, signal);
      const devices = await this.#ports.server.devices(this.#either(signal));
      await turn();
      if (this.#link.current !== session) continue;
      this.#apply(session, devices);
      return session;
    }
    throw new AdbError("broken", "the adb server is restarted again and again");
  }

  #apply(session: Session, devices: readonly ListedDevice[]): void {
    session.apply(devices);
    for (const known of session.known) this.#ask(session, known, ASK_AGAIN_MS);
  }

  /** Asks who it is, unless that is known, being asked, or was asked less than `restMs` ago. */
  #ask(session: Session, known: Knowledge, restMs: number): void {
    if (known.asking !== undefined || known.verdict?.kind === "known") return;
    if (known.heardAt > 0 && performance.now() - known.heardAt < restMs) return;
    known.askedAt = performance.now();
    known.asking = this.#identify(known, this.#ended.signal)
      .then((verdict) => {
        known.verdict = verdict;
        known.problem = verdict.kind === "known" ? undefined : verdict.why;
      })
      .catch((error: unknown) => {
        known.problem = `it can't be asked who it is${error instanceof AdbError ? ` (${error.message})` : ""}`;
        this.#ports.log("debug", known.problem, { serial: known.listed.serial, error: String(error) });
      })
      .finally(() => {
        known.heardAt = performance.now();
        known.asking = undefined;
        if (session.holds(known)) this.#tell();
      });
  }

  async #identify({ listed }: Knowledge, signal: AbortSignal): Promise<IdentityVerdict> {
    const { server } = this.#ports;
    if (!(await server.features(listed, signal)).has("shell_v2")) {
      return { kind: "none", why: "its adb is too old to tell exit codes (Android 6 and older)" };
    }
    for (let attempt = 1; ; attempt += 1) {
      const answer = await server.shell(listed, IDENTITY_COMMAND, { signal, timeoutMs: IDENTITY_MS });
      const verdict = readIdentity(answer.stdout.toString("utf8"));
      // Properties come empty once and then right (dotnet/android#8329, google/mobly#593).
      if (verdict.kind === "known" || attempt === 2) return verdict;
    }
  }

  /** Hears whether a device is still there and still the same; forgets it where it is another. */
  async #hear(session: Session, known: Knowledge, signal: AbortSignal | undefined): Promise<void> {
    const either = this.#either(signal);
    const previous = known.verdict?.kind === "known" ? known.verdict.identity : undefined;
    try {
      const answer = await this.#ports.server.shell(known.listed, `read -r boot <${BOOT_ID_FILE}; echo "$boot"`, {
        signal: either,
        timeoutMs: PROOF_MS,
      });
      known.heardAt = performance.now();
      known.silent = false;
      if (previous?.bootId !== undefined && answer.stdout.toString("utf8").trim() === previous.bootId) return;
      // Another boot, or a kernel that tells none: who is it?
      const verdict = await this.#identify(known, either);
      if (verdict.kind === "known" && verdict.identity.id === previous?.id) {
        known.verdict = verdict;
        return;
      }
      session.forget(known);
    } catch (error) {
      if (either.aborted) throw error;
      known.silent = true;
      this.#ports.log("info", "a device does not answer", { serial: known.listed.serial, error: String(error) });
    }
    this.#tell();
  }

  async #onPoll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    try {
      const session = await this.#fresh(this.#watchers.size > 0, undefined);
      const due = performance.now() - HEARD_MS;
      const asked = session.known.filter(
        (known) => known.verdict?.kind === "known" && (known.silent || known.heardAt < due),
      );
      await Promise.all(asked.map((known) => this.#hear(session, known, undefined)));
      this.#tell();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#polling = false;
    }
  }

  #fail(error: unknown): void {
    if (this.#ended.signal.aborted) return;
    for (const watcher of this.#watchers) watcher.failed(error);
  }

  /** Tells the watchers once a turn, however much has changed in it. */
  #tell(): void {
    if (this.#telling || this.#watchers.size === 0) return;
    this.#telling = true;
    setImmediate(() => {
      this.#telling = false;
      const session = this.#link.current;
      if (session === undefined || this.#ended.signal.aborted) return;
      const { sights } = session;
      const waitMs = Math.max(session.untoldForMs, this.#missed.waitMs(sights));
      if (waitMs > 0) {
        this.#tellLater(waitMs);
        return;
      }
      this.#missed.told(sights);
      for (const watcher of this.#watchers) watcher.changed(sights);
    });
  }

  #tellLater(ms: number): void {
    this.#later ??= setTimeout(() => {
      this.#later = undefined;
      this.#tell();
    }, ms);
  }

  #either(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#ended.signal : AbortSignal.any([signal, this.#ended.signal]);
  }
}
