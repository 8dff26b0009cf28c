// fio's results (its JSON and json+) of jobs that ran one after the other: the rules of python/drivelab/records/fio_*.py.
// Of jobs that ran together the command line makes a point; here they are refused.
import { type Axes, DIRECTIONS, type DriveRecord, type Figure, PERCENTILES, RecordError, type RecordPoint, type Table, axesOfJob, figureOf, isTable, sizeOf } from "./model";
import { type Counts, SAMPLES_MIN, independent, ofPercentile, ofSamples, quantileOfCounts, quantileOfPrint } from "./precision";

const SYNCHRONOUS = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];
const OFF = ["0", "none", "false", "no", "false ", ""];
const FIRST = ["rw", "bs", "bsrange", "bssplit", "iodepth", "numjobs", "rwmixread"];
const OPEN = ["thinktime", "rate_process"];
const SAMPLES_NEAR = 0.25;
const ALIASES: Record<string, string> = {
  readwrite: "rw", blocksize: "bs", blocksize_range: "bsrange", blocksize_unaligned: "bs_unaligned", blockalign: "ba", io_limit: "io_size", fileoffset: "offset", nr_files: "nrfiles", timeout: "runtime",
  ratemin: "rate_min", ratecycle: "rate_cycle", iodepth_batch_submit: "iodepth_batch", iodepth_batch_complete: "iodepth_batch_complete_min", ss: "steadystate",
};
/** These change what fio prints, or when the run is over, and no I/O of it. */
const OF_OUTPUT = /^(?:name|description|group_reporting|new_group|unified_rw_reporting|[cs]?lat_percentiles|percentile_list|significant_figures|disable_\w+|write_\w+_log|log_\w+|per_job_logs|bwavgtime|iopsavgtime|status_interval|stats|error_dump|block_error_percentiles|disk_util|unit_base|kb_base|uniqid|json\w*|output\w*|stonewall|wait_for_previous|wait_for|gtod_\w+|clocksource|job_start_clock_id|comm|write_iolog)$/;
/** These say on what the run was made, and for how long. */
const OF_MACHINE = /^(?:ioengine|filename|filename_format|directory|unique_filename|uri|hostname|port|opendir|file_append|lockfile|size|filesize|io_size|number_ios|loops|runtime|time_based|ramp_time|ramp_size|startdelay|fill_device|offset|offset_align|offset_increment|nrfiles|openfiles|file_service_type|randseed|randrepeat|allrandrepeat|random_generator|use_os_rand|norandommap|softrandommap|thread|cpus_allowed\w*|cpumask|numa_\w+|nice|mem|iomem|iomem_align|mem_align|hugepage-size|lockmem|userspace_reap|registerfiles|fixedbufs|hipri\w*|sqthread_poll\w*|nonvectored|force_async|io_submit_mode|uncached|allow_\w+|create_\w+|fallocate|fadvise_hint|invalidate|pre_read|unlink\w*|exec_prerun|exec_postrun|ioscheduler|cgroup\w*|uid|gid|umask|buffer_\w+|refill_buffers|scramble_buffers|zero_buffers|dedupe_\w+|profile|continue_on_error|ignore_error|max_latency|cmd_type|xnvme_\w+|libblkio_\w+)$/;

interface Times {
  mean: number | undefined;
  deviation: number;
  max: number;
  printed: Map<number, number>;
  bins: Counts;
}

interface Part {
  ios: number | undefined;
  iops: number | undefined;
  bytes_per_s: number | undefined;
  io_bytes: number | undefined;
  times: Map<string, Times>;
  samples: { mean: number; deviation: number; count: number } | undefined;
  hasOtherSamples: boolean;
}

const number = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined);

export function isFio(table: Table): boolean {
  const jobs = Array.isArray(table["jobs"]) ? table["jobs"] : [];
  return "fio version" in table || jobs.some((job) => isTable(job) && DIRECTIONS.some((name) => name in job));
}

/** Throws RecordError. */
export function ofFio(table: Table, origin: string): DriveRecord {
  const other = (why: string) => new RecordError(`${origin}: ${why}, which the page does not read: give the file to \`drivelab compare\``);
  if (!/^fio-(?:[3-9]|\d\d)/.test(String(table["fio version"]))) throw other(`its results are of fio ${String(table["fio version"] ?? "of an unknown version")}, older than 3.0`);
  if ("client_stats" in table || !Array.isArray(table["jobs"])) throw other("its results are of `fio --client`, or it has no jobs");
  const jobs = table["jobs"] as unknown[];
  const groups = jobs.map((job, at) => (isTable(job) ? (job["groupid"] ?? at) : at));
  if (new Set(groups).size < groups.length) throw other("several jobs of fio ran together");
  const notes: string[] = [];
  const points: RecordPoint[] = [];
  jobs.forEach((job, at) => {
    if (!isTable(job)) throw new RecordError(`${origin}: jobs[${at}] is no object`);
    if ("mixed" in job) throw other("reads and writes are reported as one (unified_rw_reporting)");
    const name = String(job["jobname"] ?? "");
    const point = pointOf(job, table, notes, `${origin}: jobs[${at}]`);
    if (point === undefined) notes.push(`job ${name} made no I/O${job["error"] ? ` (error ${String(job["error"])})` : ""}: it is left out`);
    else {
      points.push(point);
      if (job["error"]) notes.push(`job ${name} ended with error ${String(job["error"])}: its figures are of a part of the run`);
    }
  });
  if (points.length === 0) throw new RecordError(`${origin}: no job of fio with results is in it; did fio end with an error?`);
  const places = points.map((point) => JSON.stringify(point.axes));
  if (new Set(places).size < places.length) throw other("several of its jobs are at one place");
  const names = jobs.map((job) => String((job as Table)["jobname"] ?? ""));
  const target = (table["global options"] as Table | undefined)?.["filename"] ?? ((jobs[0] as Table)["job options"] as Table | undefined)?.["filename"];
  return { origin, kind: "fio", points, name: [...new Set(names)].join(", "), target: String(target ?? ""), notes: [...new Set(notes)], settings: new Map() };
}

function pointOf(job: Table, table: Table, notes: string[], place: string): RecordPoint | undefined {
  for (const name of DIRECTIONS) if (isTable(job[name]) && number(job[name]["iops"]) === undefined) throw new RecordError(`${place}.${name}.iops is no number`);
  const { stated, isComplete } = optionsOf(job, table);
  const get = (name: string, otherwise: string) => stated.get(name) ?? (isComplete ? otherwise : undefined);
  const engine = get("ioengine", "psync");
  if (engine !== undefined && SYNCHRONOUS.includes(engine) && (stated.get("iodepth") ?? "1") !== "1") {
    notes.push(`${engine} has one I/O outstanding: iodepth ${stated.get("iodepth")} counts as 1`);
    stated.set("iodepth", "1");
  }
  const size = stated.get("bs");
  const parts = new Map<string, Part>();
  for (const name of DIRECTIONS) {
    const part = partOf(job[name], size?.includes(",") ? undefined : sizeOf(size ?? ""));
    if (part !== undefined) parts.set(name, part);
  }
  if (parts.size === 0) return undefined;
  const axes = axesOf(stated, isComplete, parts);
  const texts = [get("iodepth", "1"), get("numjobs", "1")];
  const hasRate = ["rate_iops", "rate"].some((name) => !OFF.includes(stated.get(name) ?? "0"));
  if (!hasRate && texts.every((text) => text !== undefined && /^\d+$/.test(text))) axes["depth"] = Number(texts[0]) * Number(texts[1]);
  const [direction] = parts.keys();
  return { axes, figures: figuresOf(parts, stated, isComplete, hasRate, notes), digest: null, direction: parts.size === 1 ? (direction as string) : "", is_complete: isComplete };
}

function optionsOf(job: Table, table: Table): { stated: Map<string, string>; isComplete: boolean } {
  const stated = new Map<string, string>();
  for (const given of [table["global options"], job["job options"]]) {
    for (const [name, value] of isTable(given) ? Object.entries(given) : []) {
      const first = ALIASES[name] ?? name;
      stated.delete(first);
      stated.set(first, String(value));
    }
  }
  return { stated, isComplete: isTable(job["job options"]) };
}

function partOf(given: unknown, size: number | undefined): Part | undefined {
  if (!isTable(given)) return undefined;
  const times = new Map<string, Times>();
  for (const name of ["lat", "clat"]) {
    const found = timesOf(given, name);
    if (found !== undefined) times.set(name, found);
  }
  const bytes = number(given["io_bytes"]);
  const runtime = (number(given["runtime"]) ?? 0) / 1e3;
  let total = number(given["total_ios"]);
  const stated = number(given["iops"]);
  if (total === 0 || (total === undefined && !bytes && !stated && times.size === 0)) return undefined;
  if (total === undefined && bytes && size) total = bytes / size;
  const ios = total ?? (stated && runtime ? stated * runtime : undefined);
  const iops = stated || (total && runtime ? total / runtime : undefined);
  const rate = number(given["bw_bytes"]) || (bytes && runtime ? bytes / runtime : undefined) || (number(given["bw"]) ? 1024 * (number(given["bw"]) as number) : undefined);
  const samples = samplesOf(given, iops, ios);
  return { ios, iops, bytes_per_s: rate, io_bytes: bytes && total ? bytes / total : rate && iops ? rate / iops : undefined, times, samples, hasOtherSamples: samples === undefined && Boolean(number(given["iops_samples"])) };
}

function timesOf(given: Table, name: string): Times | undefined {
  const form = [[`${name}_ns`, 1], [name, 1e3], [`${name}_us`, 1e3]].find(([key]) => isTable(given[key as string])) as [string, number] | undefined;
  if (form === undefined) return undefined;
  const [own, factor] = [given[form[0]] as Table, form[1]];
  const mean = number(own["mean"]);
  const printed = new Map<number, number>();
  for (const [share, value] of isTable(own["percentile"]) ? Object.entries(own["percentile"]) : []) {
    const time = number(value);
    // Rounded, since 99.9 / 100 is not 0.999.
    if (time !== undefined && Number(share) > 0 && Number(share) <= 100) printed.set(Number((Number(share) / 100).toFixed(12)), time * factor);
  }
  const bins = (isTable(own["bins"]) ? Object.entries(own["bins"]) : []).map(([key, count]) => [Number(key) * factor, number(count) ?? 0] as const);
  const counts = bins.filter(([key, count]) => key >= 0 && key <= 1e18 && count > 0).sort((one, other) => one[0] - other[0]);
  if (!mean && ![...printed.values()].some((value) => value > 0) && counts.length === 0) return undefined;
  return { mean: mean ? mean * factor : undefined, deviation: (number(own["stddev"]) ?? 0) * factor, max: (number(own["max"]) ?? 0) * factor, printed, bins: counts };
}

function samplesOf(given: Table, iops: number | undefined, ios: number | undefined): Part["samples"] {
  const [mean, deviation, count] = ["mean", "stddev", "samples"].map((name) => number(given[`iops_${name}`]));
  if (!iops || !mean || !deviation || !count) return undefined;
  return (ios !== undefined && count > ios / 2) || Math.abs(mean / iops - 1) > SAMPLES_NEAR ? undefined : { mean, deviation, count: Math.trunc(count) };
}

function figuresOf(parts: ReadonlyMap<string, Part>, stated: ReadonlyMap<string, string>, isComplete: boolean, hasRate: boolean, notes: string[]): Record<string, Figure> {
  const text = (name: string) => stated.get(name) ?? "1";
  const whole = (name: string) => (/^\d+$/.test(text(name)) ? Number(text(name)) : 1);
  const threads = stated.get("numjobs") ?? (isComplete ? "1" : undefined);
  const hasSamples = [...parts.values()].some((part) => part.samples !== undefined);
  const crowd = {
    depth: whole("iodepth") * whole("numjobs"),
    isMixed: parts.size > 1 || ["bssplit", "bsrange", "bs_unaligned"].some((name) => stated.has(name)) || (stated.get("bs") ?? "").includes(","),
    isSingle: threads === "1" || (threads === undefined && !hasSamples),
    isOpen: hasRate || OPEN.some((name) => stated.has(name)),
  };
  const found: Record<string, Figure> = {};
  for (const [name, part] of parts) ofKind(found, part, parts.size === 1 ? "" : `${name}.`, crowd, notes);
  if (parts.size > 1) sums(found, parts);
  return found;
}

function ofKind(found: Record<string, Figure>, part: Part, before: string, crowd: { depth: number; isMixed: boolean; isSingle: boolean; isOpen: boolean }, notes: string[]): void {
  let rate: Figure | undefined;
  if (part.iops === undefined) notes.push("IOPS are unknown: fio printed 0 for a run that made I/Os");
  else {
    const isOpen = crowd.isSingle && part.hasOtherSamples;
    rate = figureOf(part.iops, { is_open: isOpen });
    if (crowd.isSingle && !isOpen && part.samples !== undefined && part.samples.count >= SAMPLES_MIN) rate = ofSamples(part.iops, part.samples.mean, part.samples.deviation, part.samples.count);
    else notes.push(!crowd.isSingle ? "no interval: fio samples each job alone, and several ran together, or their number is unknown" : isOpen ? "no interval: fio's samples do not tell how the rate varied" : `no interval: fewer than ${SAMPLES_MIN} samples of fio; a run of 10 s has about 20`);
    found[`${before}iops`] = rate;
  }
  const known = rate ?? figureOf(0);
  if (part.bytes_per_s !== undefined) found[`${before}bytes_per_s`] = { ...known, value: part.bytes_per_s };
  // In a closed loop mean and rate are each other's inverse, and so are their errors.
  const error = crowd.isOpen ? figureOf(0) : known;
  const lat = part.times.get("lat");
  if (lat?.mean !== undefined) found[`${before}mean`] = { ...error, value: lat.mean };
  if (lat?.max) found[`${before}max`] = figureOf(lat.max);
  for (const name of ["lat", "clat"]) {
    const times = part.times.get(name);
    if (times === undefined || (times.printed.size === 0 && times.bins.length === 0)) continue;
    if (name === "clat") notes.push("percentiles are of fio's clat, from submission on; --lat_percentiles=1 has those of lat");
    const quantile = times.bins.length > 0 ? quantileOfCounts(times.bins) : quantileOfPrint(times.printed);
    const n = part.ios;
    const effective = error.basis && n !== undefined && times.mean ? independent(n, times.deviation / times.mean, error.error, crowd.depth, crowd.isMixed) : undefined;
    for (const [key, share] of Object.entries(PERCENTILES)) {
      const value = times.bins.length > 0 ? quantile(share) : times.printed.get(share);
      if (value && (n === undefined || n * (1 - share) >= 10 - 1e-6)) found[before + key] = { ...ofPercentile(value, key, quantile, effective, error.freedom, error.basis), is_open: error.is_open };
    }
    break;
  }
}

/** The figures of all I/Os from those of reads, writes and trims. */
function sums(found: Record<string, Figure>, parts: ReadonlyMap<string, Part>): void {
  const kinds = [...parts.keys()];
  const of = (name: string) => kinds.map((kind) => found[`${kind}.${name}`]?.value).filter((value): value is number => value !== undefined);
  for (const name of ["iops", "bytes_per_s"]) if (of(name).length === kinds.length) found[name] = figureOf(of(name).reduce((all, value) => all + value, 0));
  const weights = [...parts.values()].map((part) => part.ios || part.iops || 0);
  const means = of("mean");
  const total = weights.reduce((all, weight) => all + weight, 0);
  if (means.length === kinds.length && weights.every((weight) => weight > 0)) found["mean"] = figureOf(means.reduce((all, mean, at) => all + mean * (weights[at] as number), 0) / total);
  if (of("max").length === kinds.length) found["max"] = figureOf(Math.max(...of("max")));
}

/** The axes of a job from its options and from what it did. */
function axesOf(stated: ReadonlyMap<string, string>, isComplete: boolean, parts: ReadonlyMap<string, Part>): Axes {
  const work: Record<string, string> = {};
  for (const [name, value] of stated) if (!OF_OUTPUT.test(name) && !OF_MACHINE.test(name)) work[name] = value.trim();
  if (isComplete) {
    if (parts.size === 1 && parts.has("read")) work["rw"] ??= "read";
    const sizes = [...parts.values()].map((part) => part.io_bytes);
    if (!["bs", "bsrange", "bssplit"].some((name) => name in work) && sizes.every((size) => size === undefined || Math.abs(size / 4096 - 1) < 0.01)) work["bs"] = "4k";
    work["numjobs"] ??= "1";
    if (!("rate_iops" in work) && !("rate" in work)) work["iodepth"] ??= "1";
  }
  const given = Object.keys(work).filter((name) => name === "rwmixread" || name === "rwmixwrite");
  const write = work["rwmixwrite"];
  delete work["rwmixwrite"];
  const kind = (work["rw"] ?? "").split(":")[0]?.toLowerCase() ?? "";
  if (!["rw", "randrw", "readwrite"].includes(kind)) {
    if ("rw" in work) delete work["rwmixread"];
  } else if (write !== undefined && given[given.length - 1] === "rwmixwrite" && /^\d+$/.test(write)) work["rwmixread"] = String(100 - Number(write));
  else if (isComplete) work["rwmixread"] ??= "50";
  sizesOf(work, parts);
  flags(work, stated, isComplete);
  const first = FIRST.filter((name) => name in work);
  const rest = Object.keys(work).filter((name) => !first.includes(name)).sort();
  return axesOfJob(Object.fromEntries([...first, ...rest].map((name) => [name, work[name] as string])));
}

/** One size if all I/Os have one, else the sizes as fio writes them. */
function sizesOf(work: Record<string, string>, parts: ReadonlyMap<string, Part>): void {
  if ("bssplit" in work || "bsrange" in work) delete work["bs"];
  for (const name of ["bs", "bsrange", "ba"]) {
    if (work[name] === undefined) continue;
    const given = work[name].split(",").map((part) => part.trim().split("-").map(shortest).join("-"));
    const own: string[] = [];
    for (let at = 0; at < DIRECTIONS.length; at++) own.push(at < given.length ? given[at] || "4k" : (own[at - 1] as string));
    const used = new Set([...parts.keys()].map((kind) => own[DIRECTIONS.indexOf(kind as "read")] as string));
    const text = used.size === 1 ? ([...used][0] as string) : own.slice(0, parts.has("trim") ? 3 : 2).join(",");
    const [low, high] = text.split("-");
    delete work[name];
    if (name === "bsrange" && low === (high ?? "")) work["bs"] = low as string;
    else work[name] = text;
  }
}

/** An amount of data in fio's shortest notation: 4k, 1m, 4608. */
function shortest(text: string): string {
  const size = sizeOf(text.replace(/b$/i, ""));
  if (size === undefined) return text;
  for (const [power, unit] of [[30, "g"], [20, "m"], [10, "k"]] as const) if (size && size % 2 ** power === 0) return `${size / 2 ** power}${unit}`;
  return String(size);
}

/** Flags and opposites under one name each, and without those that are off. */
function flags(work: Record<string, string>, stated: ReadonlyMap<string, string>, isComplete: boolean): void {
  const [buffered, direct, sequential] = [work["buffered"], work["direct"], work["percentage_sequential"]];
  for (const name of ["buffered", "direct", "percentage_sequential"]) delete work[name];
  if (sequential) work["percentage_random"] ??= /^\d+$/.test(sequential) ? String(100 - Number(sequential)) : "";
  if (work["percentage_random"] === "100") delete work["percentage_random"];
  if (work["sync"] !== undefined && ["1", "true", "yes"].includes(work["sync"].toLowerCase())) work["sync"] = "sync";
  if (work["random_distribution"] === "random") delete work["random_distribution"];
  for (const [name, value] of Object.entries(work)) if (OFF.includes(value.toLowerCase()) && !["rw", "bs", "percentage_random", "rwmixread"].includes(name)) delete work[name];
  if (stated.has("buffered") || stated.has("direct") || isComplete) {
    const isDirect = buffered !== undefined ? OFF.includes(buffered.toLowerCase()) : !OFF.includes((direct ?? "0").toLowerCase());
    work["direct"] = String(Number(isDirect));
  }
}

