import '../../shop/css/footer.css';

export { Footer as default } from '../../shop/plain';
export const settings = { rendering: 'static' };
