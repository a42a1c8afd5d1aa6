import type { Verdict } from '../../src/core/diagnosis/finding.js'

export const nothingFound: Verdict = {
  cause: 'nothing-found',
  headline: 'Nothing found',
  sure: 'high',
  says: [],
  findings: [],
  hypotheses: [],
  outlook: undefined,
  doNot: [],
  next: [],
  runbooks: [],
  escalateTo: undefined,
}

/** A leak with nothing said of it but what repairs it. */
export const leaked: Verdict = {
  ...nothingFound,
  cause: 'ipam-leak',
  headline: 'Leaked addresses',
  runbooks: ['leak-reconcile'],
}
