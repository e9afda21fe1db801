/** Imported first: React's packages choose their build when they load. */
process.env['NODE_ENV'] = 'production';
