import type { Input, Reality } from "../leasing/index.ts";
import { endLeftovers } from "../exec/index.ts";
import type { Assembled } from "./assemble.ts";
import { settlesWithin } from "./bounded.ts";
import { READ_TIMEOUT_MS, STOP_FLUSH_MS, STOP_STEP_MS, STOP_WORK_MS } from "./limits.ts";
import type { Log } from "./log.ts";
import { readReality } from "./reality.ts";
import type { SocketServer } from "./server.ts";
import { startTrimming } from "./trimming.ts";

export interface LifePorts {
  /** The last step of each end: closes what was opened before there was a life. */
  readonly after: () => Promise<void>;
  readonly exit: (code: number) => void;
}

/** The daemon's way from its socket to its end: reads the machine, runs, and stops, told to or not. */
export class Life {
  readonly stopped: Promise<number>;
  readonly #daemon: Assembled;
  readonly #ports: LifePorts;
  readonly #log: Log;
  readonly #ended = Promise.withResolvers<number>();
  #server: SocketServer | undefined;
  #stopping: Promise<number> | undefined;
  #converging: Promise<void> = Promise.resolve();
  #failed = false;
  #stopTrimming: () => void = () => undefined;
  #deafen: () => void = () => undefined;

  constructor(daemon: Assembled, ports: LifePorts) {
    this.#daemon = daemon;
    this.#ports = ports;
    this.#log = daemon.core.log.of("daemon");
    this.stopped = this.#ended.promise;
    daemon.fatal = (error) => this.#die(error, "what was decided can't be stored");
  }

  serve(server: SocketServer): void {
    this.#server = server;
    this.#daemon.peers = () => server.connections;
  }

  /** SIGTERM, SIGINT and SIGHUP (its terminal was closed) stop the daemon; what nobody caught ends it, since nobody knows what it left half done. */
  heedSignals(): void {
    const stop = (signal: NodeJS.Signals): void => void this.stop(signal);
    const caught = (error: unknown): void => this.#die(error, "an error that nobody caught");
    const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
    for (const signal of signals) process.on(signal, stop);
    process.on("uncaughtException", caught).on("unhandledRejection", caught);
    this.#deafen = () => {
      for (const signal of signals) process.off(signal, stop);
      process.off("uncaughtException", caught).off("unhandledRejection", caught);
    };
  }

  /** Reads the machine and takes up what the last daemon left. Rejects when it can't be done: the daemon then ends by itself. */
  begin(version: string, virtual: boolean): Promise<void> {
    const { core } = this.#daemon;
    const begun = this.#converge().then(
      () => {
        if (core.health.stopping) return;
        core.loop.record([{ event: "daemon.started", payload: { version, virtual } }]);
        core.health.run();
        core.reality.start();
        this.#daemon.bound.update();
        this.#stopTrimming = startTrimming(core.store, core.config.eventLog, (error) =>
          this.#die(error, "old events can't be removed"),
        );
        this.#log.info({ devices: core.state.devices.size, leases: core.state.leases.size }, "running");
      },
      (error: unknown) => {
        this.#log.error({ error }, "the start failed");
        core.health.fail(error);
        void this.#end("start failed", 1);
        throw error;
      },
    );
    this.#converging = begun;
    // Whoever asks for it hears of it; nobody has to.
    begun.catch(() => undefined);
    return begun;
  }

  /** Leases stand. Commands are ended, driver work is let end within bounds, and what waits is answered `DAEMON_STOPPING`. */
  async stop(reason: string): Promise<number> {
    return this.#end(reason, 0);
  }

  async #converge(): Promise<void> {
    const { core, scratch, commandJournal } = this.#daemon;
    const ended = await endLeftovers(commandJournal);
    if (ended.length > 0) this.#log.warn({ commands: ended.length }, "commands of the last daemon were ended");
    await core.passthroughs.takeUp();
    await scratch.keepOnly([...core.state.leases.keys()]).catch((error: unknown) => {
      this.#log.warn({ error }, "old scratch folders can't be removed");
    });
    const catalogs = core.catalogs.refresh(undefined, 0);
    const [realities, facts] = await Promise.all([
      this.#realities(),
      core.host.read(),
      settlesWithin(catalogs, READ_TIMEOUT_MS),
    ]);
    const inputs: Input[] = [
      { kind: "recovered", realities },
      { kind: "host", facts },
    ];
    for (const input of inputs) core.loop.submit(input);
    core.catalogs.release();
    await core.loop.settled();
  }

  /** One reading of each kind, side by side. Attached devices are looked for only where one was enrolled: nobody else's adb is started for nothing. */
  async #realities(): Promise<readonly Reality[]> {
    const { core } = this.#daemon;
    const known = new Set([...core.state.devices.values()].map((device) => device.kind));
    const log = core.log.of("reality");
    const read = core.drivers.filter((driver) => driver.attached === undefined || known.has(driver.kind));
    return Promise.all(read.map(async (driver) => readReality(driver, log)));
  }

  async #end(reason: string, code: number): Promise<number> {
    this.#stopping ??= this.#endOnce(reason, code);
    return this.#stopping;
  }

  async #endOnce(reason: string, code: number): Promise<number> {
    const { core, effects, bound, work } = this.#daemon;
    this.#log.info({ reason }, "stopping");
    core.health.stop();
    effects.close();
    core.reality.stop();
    bound.stop();
    this.#stopTrimming();
    core.commands.stop();
    core.stateWork.stop();
    core.passthroughs.stop();
    // Reading the machine is bounded, and its result must not come into a loop that has ended.
    await settlesWithin(this.#converging, STOP_STEP_MS);
    core.loop.record([{ event: "daemon.stopping", payload: { reason } }]);
    await core.loop.dismiss();
    await Promise.all([effects.stop(STOP_WORK_MS), settlesWithin(work.endAll(), STOP_STEP_MS)]);
    await core.loop.settled();
    core.loop.stop();
    await this.#server?.close(STOP_FLUSH_MS);
    await this.#close();
    const exitCode = this.#failed ? 1 : code;
    this.#ended.resolve(exitCode);
    return exitCode;
  }

  async #close(): Promise<void> {
    this.#daemon.core.clock.stop();
    this.#deafen();
    await this.#ports.after();
  }

  /** Nothing may be said any more: the process ends here and now, and the next daemon goes on from what is stored. */
  #die(error: unknown, why: string): void {
    if (this.#stopping === undefined) this.#stopping = this.#dieOnce(error, why);
    else {
      this.#failed = true;
      this.#log.fatal({ error }, `while stopping: ${why}`);
    }
  }

  async #dieOnce(error: unknown, why: string): Promise<number> {
    const { core, effects } = this.#daemon;
    this.#log.fatal({ error }, `the daemon ends at once: ${why}`);
    core.log.flush();
    this.#ports.exit(1);
    // Only where the process is not ours to end (a test's) does it go on here.
    core.health.stop();
    effects.close();
    core.reality.stop();
    this.#daemon.bound.stop();
    this.#stopTrimming();
    for (const connection of this.#server?.connections ?? []) connection.cut("the daemon failed");
    core.loop.stop();
    core.commands.stop();
    core.stateWork.stop();
    core.passthroughs.stop();
    await settlesWithin(this.#converging, STOP_STEP_MS);
    await settlesWithin(this.#daemon.work.endAll(), STOP_STEP_MS);
    await this.#server?.close(0);
    await this.#close();
    this.#ended.resolve(1);
    return 1;
  }
}
