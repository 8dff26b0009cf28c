// The claims of the published tables, one file for each experiment as in python/drivelab/experiment/claims. A test judges the same
// made-up figures here and there.
import { type Found, Missing } from "../found";
import type { ClaimEntry, Verdict } from "../model";
import { CLAIMS as ich9r2008 } from "./ich9r-2008";
import { CLAIMS as ich9r2008Raid } from "./ich9r-2008-raid";
import { CLAIMS as lkml2007 } from "./lkml-2007";
import { CLAIMS as mirpk2005 } from "./mirpk-2005";
import { CLAIMS as mirpk2005Desktop } from "./mirpk-2005-desktop";
import type { Claims } from "./pattern";
import { CLAIMS as storagereview2004 } from "./storagereview-2004";
import { CLAIMS as storagereview2004Desktop } from "./storagereview-2004-desktop";
import { CLAIMS as storagereview2004Raid } from "./storagereview-2004-raid";

const OF_EXPERIMENT: Readonly<Record<string, Claims>> = {
  "ich9r-2008": ich9r2008,
  "ich9r-2008-raid": ich9r2008Raid,
  "lkml-2007": lkml2007,
  "mirpk-2005": mirpk2005,
  "mirpk-2005-desktop": mirpk2005Desktop,
  "storagereview-2004": storagereview2004,
  "storagereview-2004-desktop": storagereview2004Desktop,
  "storagereview-2004-raid": storagereview2004Raid,
};

/** Whether a claim holds on the figures that are there; undefined while it lacks some. Throws where there is no rule for it. */
export function judge(found: Found, claim: ClaimEntry): Verdict | undefined {
  if (claim.fixed !== undefined) return claim.fixed;
  const rule = OF_EXPERIMENT[found.experiment.name]?.[claim.id];
  if (rule === undefined) throw new Error(`${found.experiment.name}: no function checks the claim ${claim.id}`);
  try {
    return rule(found);
  } catch (error) {
    if (error instanceof Missing) return undefined;
    throw error;
  }
}
