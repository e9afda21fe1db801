import '../../shop/css/sort.css';

export { default } from '../../shop/sort';
export const settings = { hydration: 'idle' };
